"""Registries: names in every spelling, suggestions for near misses, additions."""

from typing import Any, cast

import pytest

from poinsot.core import InputError, Registry, check_called, check_parameters, did_you_mean, parameters_of


def cube(side, *, colour="red"):
    return side, colour


def fresh():
    return Registry("shape", {"null_space": 1, "cube-2": 2})


def test_names_take_hyphens_and_underscores():
    shapes = fresh()
    assert shapes.find("null-space") == shapes.find("null_space") == 1
    assert shapes.name_of("cube_2") == "cube-2"
    assert list(shapes) == ["null_space", "cube-2"] and "cube-2" in shapes


@pytest.mark.parametrize("name", ["cube2", "Cube-2", "qube-2"])
def test_near_misses_are_suggested(name):
    with pytest.raises(InputError, match=f"shape '{name}' is not known; did you mean cube-2"):
        fresh().find(name)


def test_far_misses_list_what_there_is():
    with pytest.raises(InputError, match="shape 'torus' is not known; the shapes are null_space, cube-2"):
        fresh().find("torus")
    with pytest.raises(InputError, match="shape 3 is not known"):
        fresh().find(3)
    assert did_you_mean("torus", ["cube"], "ask") == "ask"


def test_additions_need_a_free_name_that_files_can_hold():
    shapes = fresh()
    shapes.add("ball", 3)
    assert shapes["ball"] == 3
    for name, message in (
        ("ball", "taken"),
        ("cube_2", "taken"),
        ("My Ball", "lower case"),
        ("", "lower case"),
        (3, "lower case"),
    ):
        with pytest.raises(InputError, match=message):
            shapes.add(cast(Any, name), 4)


def test_parameters_are_checked_before_the_call():
    assert parameters_of(cube) == {"side": "required", "colour": "red"}
    check_parameters(cube, ["side"], "cube")
    check_parameters(lambda **anything: anything, ["side"], "any")
    with pytest.raises(InputError, match=r"cube has no parameter 'color'; did you mean colour\?"):
        check_parameters(cube, ["side", "color"], "cube")
    with pytest.raises(InputError, match="cube needs side; its keys are side, colour"):
        check_parameters(cube, [], "cube", "key")


def test_a_maker_in_place_of_what_it_makes():
    check_called("shape", 3.0)
    with pytest.raises(InputError, match=r"shape = cube is a function; call it, shape=cube\(side=...\)"):
        check_called("shape", cube)
    with pytest.raises(InputError, match=r"shape = dict is a class; call it"):
        check_called("shape", dict)
