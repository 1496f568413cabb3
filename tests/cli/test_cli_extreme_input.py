"""Extreme values in scenario files and options: one short line, never a traceback."""

import os
import re

import pytest
from typer.testing import CliRunner

import poinsot as pt
from poinsot.cli import app

DIGITS = "1" + "0" * 400
LONG = "x" * 100_000

TOP = """
[system]
name = "heavy-top"
parameters = { inertia = [50.0, 42.0, 10.0], mgl = 108.0 }

[start]
rotation = { axis = [1.0, 0.0, 0.0], angle = 1.0 }
angular_velocity = [0.0, 0.0, 20.0]

[integrator]
name = "lie-splitting"

[run]
t1 = 0.02
dt = 0.01
"""

CHAIN = """
[system]
name = "particle-chain"

[system.parameters]
count = 8
spacing = 2.0
body = { shape = "tetrahedron", a = 1.0, particle_mass = 1.0 }
potential = { name = "lennard-jones", epsilon = 5.0, sigma = 1.0 }

[start]
velocity_scale = 0.05
seed = 0

[integrator]
name = "lie-splitting"

[run]
t1 = 0.02
dt = 0.01
"""


def line_of(tmp_path, text, *options):
    """What is said of a scenario, in one line."""
    path = tmp_path / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    places = () if "--out" in options else ("--out", str(tmp_path / "out"))
    done = CliRunner().invoke(app, ["run", str(path), "--no-plots", "--quiet", *places, *options])
    assert done.exit_code == 2 and isinstance(done.exception, SystemExit), done.output
    said = done.stderr.strip()
    assert said.startswith("poinsot: ") and "\n" not in said
    return said


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("axis = [1.0, 0.0, 0.0]", "axis = [nan, 0.0, 0.0]", "axis[0] = nan; it must be finite"),
        ("axis = [1.0, 0.0, 0.0]", "axis = [0.0, 0.0, 0.0]", "it must have a direction"),
        ("[50.0, 42.0", f"[{DIGITS}, 42.0", "it is beyond the range of double precision"),
        ("mgl = 108.0", f"mgl = {DIGITS}", "it is beyond the range of double precision"),
        ("mgl = 108.0", f"mgl = {'1' * 5000}", "not a TOML file: Exceeds the limit"),
        ("t1 = 0.02", f"t1 = {DIGITS}", "it must be a number"),
        ("t1 = 0.02", f't1 = "{LONG}"', "it must be a number"),
        ("t1 = 0.02", "t0 = 1e17\nt1 = 1.000000000000016e17", "too short for times"),
        ("t1 = 0.02", f"t1 = 0.02\n{LONG} = 1", "has no key"),
        ('"heavy-top"', f'"{LONG}"', "is not known"),
        ('"lie-splitting"', f'"{LONG}"', "is not known"),
        ("mgl = 108.0", f"{LONG} = 1.0, mgl = 108.0", "has no parameter"),
        ("{ axis = [1.0, 0.0, 0.0], angle = 1.0 }", f'"{LONG}"', "it must be a table of keys"),
    ],
)
def test_extreme_values(tmp_path, old, new, message):
    assert old in TOP
    said = line_of(tmp_path, TOP.replace(old, new))
    assert message in said
    assert not re.search(r"x{201}|0{401}|1{401}", said) and len(said) < 1500


@pytest.mark.parametrize("count", ["1000000000", DIGITS])
def test_more_bodies_than_a_memory_holds(tmp_path, count):
    said = line_of(tmp_path, CHAIN.replace("count = 8", f"count = {count}"))
    assert "count = 1" in said and "it must be a whole number from 1 to 10000000" in said


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("max_iterations", "1099511627776", "from 1 to 1000000"),
        ("max_iterations", "9999999999999999999999", "from 1 to 1000000"),
        ("tolerance", "inf", "it must be a finite number"),
    ],
)
def test_extreme_iterations(tmp_path, key, value, message):
    text = TOP.replace('"lie-splitting"', f'"gauss6"\nsolver = "fixed-point"\n{key} = {value}')
    assert message in line_of(tmp_path, text)


def test_folders_that_cannot_be(tmp_path):
    os.symlink(tmp_path / "nowhere", tmp_path / "link")
    for folder, message in (
        ("y" * 300, "File name too long"),
        (str(tmp_path / "link" / "deep"), "is a link to nothing"),
        (str(tmp_path / "link"), "is a link to nothing"),
    ):
        said = line_of(tmp_path, TOP, "--out", folder)
        assert message in said and "y" * 201 not in said
    # A folder in the file itself may have characters that a shell cannot pass on.
    path = tmp_path / "scenario.toml"
    path.write_text(TOP + '\n[output]\nfolder = "a\\u0000b"\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(path), "--no-plots", "--quiet"])
    assert done.exit_code == 2 and "null byte" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("size", ["1e308", "1e-200"])
def test_axes_of_any_length_turn_alike(tmp_path, size):
    path = tmp_path / "scenario.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TOP.replace("[1.0, 0.0, 0.0]", f"[{size}, 0.0, 0.0]").encode())
    # The byte order mark, which some editors write, is no part of the text.
    start = pt.io.load_scenario(path).run(progress=False).rotation[0, 0]
    assert abs(start[1, 1] - 0.5403023058681398) < 1e-15


def test_a_store_with_deeply_nested_json_is_refused(tmp_path):
    place = tmp_path / "deep.zarr"
    place.mkdir()
    (place / "zarr.json").write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(pt.InputError, match="is not a stored trajectory"):
        pt.load(place)
