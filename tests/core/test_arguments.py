"""Senseless arguments are refused in one line, everywhere alike; what makes sense is taken."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.core import NAME, POSITIVE, checked, kind_of, real, whole

NAN = float("nan")
M, J, L, P = pt.integrators, pt.joints, pt.loads, pt.potentials
EXAMPLES = Path(__file__).parents[2] / "examples"
PICKER = Path(__file__).parents[1] / "io" / "robots" / "picker.urdf"
KEPLER, ARM = pt.library.kepler(), pt.library.two_link_arm()
HERE, MARKER = (0.0, 0.0, 0.0), P.Marker("a")


def run(**changes):
    return pt.simulate(KEPLER, KEPLER.start, **{"t1": 1.0, "dt": 0.1, "integrator": "rk4"} | changes)


def hinge(**where):
    return J.Revolute("ground", "a", at=HERE, **where)


def planets(table, count=3):
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    bodies = [pt.RigidBody.from_particles(np.ones(3), points, name=f"b{i}") for i in range(count)]
    return pt.System(bodies, potentials=[P.Coulomb(table)])


SENSELESS = {
    "stages, too many": lambda: M.GaussLegendre(10**9),
    "stages, of a family": lambda: M.Spark("gauss", 10**400),
    "stages, no number": lambda: M.LobattoIIIAB(NAN),
    "stages, a fraction": lambda: M.RadauIIA(2.5),
    "solver, a text": lambda: M.GaussLegendre(2, solver="abc"),  # pyright: ignore
    "solver, a class": lambda: M.ImplicitMidpoint(solver=M.FixedPoint),  # pyright: ignore
    "compensated": lambda: M.RK4(compensated="no"),  # pyright: ignore
    "base": lambda: M.Composition(3, "suzuki4"),  # pyright: ignore
    "scheme": lambda: M.Splitting(np.ones(3)),  # pyright: ignore
    "tableau": lambda: M.ExplicitRungeKutta(3),  # pyright: ignore
    "tableau, implicit": lambda: M.ExplicitRungeKutta(M.RadauIIA(2).tableau),
    "projection": lambda: M.DormandPrince5(projection=np.ones(2)),  # pyright: ignore
    "mass": lambda: pt.Constrained(lambda q: 0.0, lambda q: q, -1.0),
    "mass, a matrix": lambda: pt.Constrained(lambda q: 0.0, lambda q: q, [[1.0, 2.0], [2.0, 1.0]]),
    "mass, NaN": lambda: pt.Constrained(lambda q: 0.0, lambda q: q, NAN),
    "mass, not symmetric": lambda: pt.Constrained(lambda q: 0.0, lambda q: q, [[1.0, 0.1], [0.0, 1.0]]),
    "damping": lambda: L.JointDamper("s", -5.0),
    "translational": lambda: L.LinearDamping(translational=-5.0),
    "rotational": lambda: L.LinearDamping(rotational=(-1, -1, -1)),
    "damping, between points": lambda: L.Damper(HERE, MARKER, damping=-5.0),
    "stiffness of JointSpring": lambda: P.JointSpring("s", -5.0),
    "stiffness of Spring": lambda: P.Spring(HERE, MARKER, stiffness=-5.0),
    "rest_length": lambda: P.Spring(HERE, MARKER, stiffness=5.0, rest_length=-1.0),
    "stiffness of TorsionalBushing": lambda: P.TorsionalBushing(HERE, MARKER, stiffness=(1, -1, 1)),
    "stiffness of LinearBushing": lambda: P.LinearBushing(HERE, MARKER, stiffness=(1, -1, 1)),
    "height": lambda: pt.shapes.cone_tip(NAN),
    "height, negative": lambda: pt.shapes.cone_tip(-1),
    "first_length": lambda: pt.library.two_link_arm(first_length=-1),
    "second": lambda: pt.library.double_pendulum(second=0.0),
    "length": lambda: pt.library.cart_pole(length=-1.0),
    "rest_length of a spring that is not there": lambda: pt.library.four_bar(rest_length="abc"),  # pyright: ignore
    "links": lambda: pt.library.rod_pendulum(links=10**400),
    "links, hinged": lambda: pt.library.hinge_pendulum(links=10**9),
    "loops": lambda: pt.library.parallelogram(loops=10**9),
    "angle": lambda: pt.rotation.about_x(NAN),
    "angles": lambda: pt.rotation.euler("zxz", (NAN, 0, 0)),
    "sequence": lambda: pt.rotation.euler(np.ones(3), (0, 0, 0)),  # pyright: ignore
    "xi": lambda: pt.rotation.exp((np.inf, 1, 1)),  # pyright: ignore
    "limits": lambda: hinge(limits={}),
    "largest_effort": lambda: hinge(largest_effort={}),
    "name of the Revolute": lambda: hinge(name=NAN),
    "name of the Revolute, a function": lambda: hinge(name=len),
    "name of the Revolute, empty": lambda: hinge(name=" "),
    "name of the Revolute, an array": lambda: hinge(name=np.array(["a", "b"])),
    "first of Revolute": lambda: J.Revolute(np.ones(2), "a", at=HERE),  # pyright: ignore
    "joint": lambda: L.JointDamper(3, 1.0),  # pyright: ignore
    "joint of JointSpring": lambda: P.JointSpring([0, 0], 1.0),  # pyright: ignore
    "light": lambda: pt.RigidBody(1.0, (1, 1, 1), light="no"),  # pyright: ignore
    "cut": lambda: pt.OpenChain(ARM, cut="no"),  # pyright: ignore
    "name of System": lambda: pt.System(pt.RigidBody(1.0, (1, 1, 1)), name=len),  # pyright: ignore
    "function of Event": lambda: pt.Event(None),  # pyright: ignore
    "function of Event, a text": lambda: pt.Event("abc"),  # pyright: ignore
    "direction": lambda: pt.Event(len, 2),  # pyright: ignore
    "smooth": lambda: P.Cutoff(P.LennardJones(1, 1), 2.0, smooth=10**400),
    "radius": lambda: P.Cutoff(P.LennardJones(1, 1), True),
    "potentials": lambda: planets(np.outer([1, 2, 3], [4, 5, 7])),
    "system": lambda: pt.formulate(3, "quaternions", "index0"),  # pyright: ignore
    "velocity": lambda: ARM.assemble(velocity=3.0),  # pyright: ignore
    "start": lambda: ARM.equilibrium(3.0),  # pyright: ignore
    "starts": lambda: ARM.equilibrium(ARM.start, starts=10**9),
    "invariants": lambda: pt.Hamiltonian(lambda q, p: 0.0, invariants=3.0),  # pyright: ignore
    "coordinates": lambda: J.Coupling("a", "b", (1, 1), coordinates=None),  # pyright: ignore
    "throw": lambda: run(throw="no"),
    "fast": lambda: run(fast=NAN),
    "progress": lambda: run(progress="no"),
    "kernel": lambda: run(kernel=np.ones(2)),
    "last_step": lambda: run(last_step=np.ones(2)),
    "t1": lambda: run(t1="x"),
    "path": lambda: pt.load(np.ones(2)),  # pyright: ignore
}


@pytest.mark.parametrize("case", SENSELESS)
def test_senseless_arguments(case):
    with pytest.raises(
        pt.InputError, match=f"^{case.split(',')[0].split(' that ')[0].split(' of a')[0]}"
    ) as caught:
        SENSELESS[case]()
    assert len(str(caught.value).splitlines()) == 1 and len(str(caught.value)) < 600


ACTIVE = {
    "JointDamper": lambda: L.JointDamper("s", -5.0, active=True),
    "LinearDamping": lambda: L.LinearDamping(-5.0, active=True),
    "Damper": lambda: L.Damper(HERE, MARKER, damping=-5.0, active=True),
    "JointSpring": lambda: P.JointSpring("s", -5.0, active=True),
    "Spring": lambda: P.Spring(HERE, MARKER, stiffness=-5.0, active=True),
    "TorsionalBushing": lambda: P.TorsionalBushing(HERE, MARKER, stiffness=(1, -1, 1), active=True),
    "LinearBushing": lambda: P.LinearBushing(HERE, MARKER, stiffness=(1, -1, 1), active=True),
    "Coulomb between two": lambda: planets(np.outer([1, 2, 3], [4, 5, 7]), 2),
}


@pytest.mark.parametrize("case", ACTIVE)
def test_what_is_meant_is_taken(case):
    ACTIVE[case]()


def test_a_pipe_is_no_file(tmp_path):
    for name, read in (
        ("a.toml", pt.io.load_scenario),
        ("a.urdf", pt.io.read_urdf),
        ("a.xml", pt.io.read_mjcf),
    ):
        os.mkfifo(tmp_path / name)
        with pytest.raises(pt.InputError, match="it is no regular file"):
            read(tmp_path / name)


def test_a_negative_damping_in_files(tmp_path):
    robot = PICKER.read_text()
    (tmp_path / "a.urdf").write_text(re.sub('damping="[^"]*"', 'damping="-1"', robot))
    with pytest.raises(pt.InputError, match=r"a.urdf: joint '\w+': damping = -1; it must not be negative"):
        pt.io.read_urdf(tmp_path / "a.urdf", damping=True)
    negative = (EXAMPLES / "gears.toml").read_text().replace("stiffness = 200.0", "stiffness = -200.0")
    (tmp_path / "a.toml").write_text(negative)
    with pytest.raises(pt.InputError, match="= -200; it must not be negative, unless with active=True"):
        pt.io.load_scenario(tmp_path / "a.toml")
    (tmp_path / "a.toml").write_text(negative.replace("= -200.0", "= -200.0\nactive = true"))
    pt.io.load_scenario(tmp_path / "a.toml")


def test_joint_names_in_files(tmp_path):
    """Names that are no texts, and references to them, are named in a line."""
    scenario = (EXAMPLES / "four_bar.toml").read_text()
    for name in ("[1.0, 2.0]", "1e308", '""'):
        (tmp_path / "a.toml").write_text(re.sub(r'\nname = "B"', f"\\nname = {name}", scenario, count=1))
        with pytest.raises(pt.InputError, match="a.toml") as caught:
            pt.io.load_scenario(tmp_path / "a.toml")
        assert len(str(caught.value).splitlines()) == 1


def test_moments_beyond_double_precision(tmp_path):
    robot = PICKER.read_text()
    (tmp_path / "a.urdf").write_text(robot.replace('<origin xyz="0.25 0 0"/>', '<origin xyz="1e155 0 0"/>'))
    with pytest.raises(pt.InputError, match="mass centre at 1e.155; its moments are"):
        pt.io.read_urdf(tmp_path / "a.urdf")


def test_a_moment_out_of_all_proportion(tmp_path):
    (tmp_path / "a.urdf").write_text(PICKER.read_text().replace('iyy="0.06"', 'iyy="1e308"'))
    with pytest.raises(pt.InputError, match="a.urdf: link 'arm' has a moment of 1e.308"):
        pt.io.read_urdf(tmp_path / "a.urdf")


def test_input_errors_are_value_and_type_errors():
    assert issubclass(pt.InputError, ValueError) and issubclass(pt.InputError, TypeError)


Named = Annotated[str, NAME]
KINDS = [
    (bool, [True, np.bool_(False)], ["no", 1, None, np.ones(2), jnp.asarray(True)]),
    (str, ["", "a"], [1, None, np.array(["a"])]),
    (int, [0, -3, np.int64(7)], [True, 1.0, "1", np.ones(1)]),
    (
        float,
        [1, 1.5, np.float32(2), jnp.asarray(3.0)],
        [np.ones(2), NAN, np.inf, "1", None, True, [1, [2]], 10**400],
    ),
    (Literal["a", 1], ["a", 1], ["b", True, 1.0, np.ones(2), ["a"]]),
    (Annotated[int, whole(1, 3)], [1, 3], [0, 4, 2.0, 10**400]),
    (Annotated[Any, POSITIVE], [1e-300, [1.0, 2.0]], [0, -1, [1, -1], "x"]),
    (Annotated[Any, real(least=-1.0)], [-1, 5], [-1.5]),
    (Named | None, [None, "a"], ["", 1]),  # pyright: ignore
    (Sequence[str], [[], ("a",)], ["a", [1], 3, np.ones(2)]),
    (Mapping[str, Any], [{}], [[], 3]),
    (tuple[str | None, bool], [(None, True), ["a", False]], [("a", True, 1), ("a", 1), "ab"]),
    (pt.RigidBody, [pt.shapes.sphere(1.0, mass=1.0)], [pt.RigidBody, 3]),
    (pt.core.AbstractProblem | pt.System, [3], []),
    (Any, [3, None], []),
]


@pytest.mark.parametrize(("annotation", "good", "bad"), KINDS)
def test_what_annotations_accept(annotation, good, bad):
    kind = kind_of(annotation)
    assert all(kind is None or kind.accepts(one) for one in good)
    assert not any(kind is None or kind.accepts(one) for one in bad)


def test_checked_functions():
    @checked
    def strict(first: int, *rest: Any, flag: bool = False, name: str = "x"):
        return first, rest, flag

    made: Any = strict
    assert made(1, "a", flag=True) == (1, ("a",), True) and made.__name__ == "strict"
    for call in (
        lambda: made("1"),
        lambda: made(first="1"),
        lambda: made(1, flag="no"),
        lambda: made(1, name=None),
    ):  # pyright: ignore
        with pytest.raises(pt.InputError, match="^(first|flag|name) = "):
            call()


def test_traced_numbers_have_no_value_yet():
    @checked
    def length(value: Annotated[Any, POSITIVE]):
        return value

    assert jax.jit(length)(-1.0) == -1.0
    with pytest.raises(pt.InputError, match=r"^value = -1.0; it must be a positive number"):
        length(-1.0)
