"""Symplectic and variational methods on trees in joint coordinates: order, energy, unit length, by name."""

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_joint_coordinates import crane, start

import poinsot as pt
from deviations import deviation
from poinsot.integrators import names

FORMS = ("hamiltonian", "index3")
"""Those of a tree that have momenta, and are there for symplectic methods."""
REFUSED = ("lie-", "splitting")
"""Methods of the rotation group, and of separable Hamiltonians."""


def by_name(name: str) -> Any:
    """The integrator with fixed steps under a name."""
    return pt.integrators.by_name(name)


SYMPLECTIC = [name for name in names() if by_name(name).symplectic]
TAKEN = [name for name in SYMPLECTIC if not name.startswith(REFUSED)]


def tried(system: pt.System, begin: pt.State, t1: float, dt: float, integrator: Any, **options: Any) -> Any:
    return pt.simulate(
        system, begin, t1=t1, dt=dt, coordinates="joint", integrator=integrator, progress=False, **options
    )


@cache
def swung(t1: float) -> np.ndarray:
    """Way and angle of the cart with its pole, by its equations written out."""
    robot_mass, pole_mass, half = 1.0, 0.1, 0.5

    def rates(t, y):
        x, angle, v, w = y
        cosine, sine = np.cos(angle), np.sin(angle)
        metric = [
            [robot_mass + pole_mass, pole_mass * half * cosine],
            [pole_mass * half * cosine, 4.0 / 3.0 * pole_mass * half**2],
        ]
        forces = [pole_mass * half * w * w * sine, pole_mass * 9.81 * half * sine]
        return [v, w, *np.linalg.solve(metric, forces)]

    found = solve_ivp(rates, (0.0, t1), [0.0, 1.0, 0.0, -2.0], method="DOP853", rtol=1e-12, atol=1e-12)
    return found.y[:2, -1]


@pytest.mark.slow
def test_a_tree_without_balls_has_no_constraint_and_takes_the_methods_of_constraints():
    robot = pt.library.cart_pole(1.0, 0.1, 1.0)
    begin = robot.joint_state({"hinge": 1.0}, rates={"hinge": -2.0})
    errors = []
    for dt in (0.05, 0.025):
        run = tried(robot, begin, 0.5, dt, "constrained-gauss4")
        errors.append(np.max(np.abs(np.asarray(run.q)[-1] - swung(0.5))))
    assert run.attributes["form"] == "index3"
    problem: Any = pt.formulate(robot, "joint", "index3").problem
    assert problem.constraint(0.0, run.q[-1]).size == 0
    assert abs(np.log2(errors[0] / errors[1]) - 4.0) < 0.2, errors


@pytest.mark.slow
def test_a_ball_has_a_unit_quaternion_for_its_constraint():
    top: Any = pt.library.regular_precession()
    errors = []
    for dt in (1e-3, 5e-4):
        run = tried(top, top.start, 0.05, dt, "rattle")
        errors.append(np.max(np.abs(run.rotation[-1] - pt.rotation.to_matrix(top.exact(0.05).quaternion))))
        assert deviation(run, "constraint") < 1e-14
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.1, errors


def forms_taken() -> dict[str, list[str]]:
    """The forms of a tree with hinge, slide and ball that each symplectic method takes."""
    problems = {form: pt.formulate(crane(), "joint", form).problem for form in FORMS}
    return {
        name: [form for form, problem in problems.items() if by_name(name).refusal(problem) is None]
        for name in SYMPLECTIC
    }


def test_every_symplectic_method_takes_a_tree_but_those_of_the_group_and_of_separable_hamiltonians():
    taken = forms_taken()
    assert [name for name, forms in taken.items() if forms] == TAKEN
    assert 5 < len(SYMPLECTIC) - len(TAKEN) < 15
    for name in ("rattle", "variational", "constrained-gauss4", "constrained-lobatto4"):
        assert taken[name] == ["index3"]


@cache
def on_the_group() -> np.ndarray:
    """Places of the crane on the group, with the error of an adaptive method."""
    run: Any = pt.simulate(
        crane(), start(), t1=END, save_at=[END], coordinates="group", integrator="dormand-prince8",
        rtol=1e-13, atol=1e-13, progress=False,
    )  # fmt: skip
    return np.asarray(run.position[-1])


END = 0.4
STEPS = {1: (400, 800), 2: (40, 80), 3: (40, 80), 4: (20, 40), 5: (20, 40), 6: (10, 20), 8: (8, 16)}
"""Numbers of steps in which the error of an order shows; of higher orders that of the second one alone."""


def drift(name: str) -> tuple[float, float]:
    """Largest change of the energy while the crane swings below its rails, and how much of it is a drift."""
    swinging = crane().joint_state(
        {"rails": 0.1, "hinge": np.pi - 0.4, "hook": (0.3, -0.3, 0.2)},
        rates={"hinge": 0.3, "hook": (0.4, 0.2, -0.5)},
    )
    count = STEPS[min(by_name(name).order, 8)][0]
    run = tried(crane(), swinging, 100 * END, END / count, name, save_every=count // 4)
    change = np.asarray(run.energy) - run.energy[0]
    quarters = [np.mean(part) for part in np.array_split(change, 4)]
    largest = np.max(np.abs(change))
    return float(largest), float(abs(quarters[3] - quarters[0]) / largest)


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKEN)
def test_every_symplectic_method_on_a_tree_has_its_order_and_keeps_the_energy(name):
    method = by_name(name)
    counts = STEPS[min(method.order, 8)]
    runs = [tried(crane(), start(), END, END / count, name) for count in counts]
    errors = [float(np.max(np.abs(run.position[-1] - on_the_group()))) for run in runs]
    order = np.log2(errors[0] / errors[1])
    assert errors[1] < 1e-11 or method.order - 0.4 < order < method.order + 1.2, (errors, order)
    if "quadratic" in method.conserves or runs[0].attributes["form"] == "index3":
        assert deviation(runs[1], "constraint") < 1e-13
    largest, share = drift(name)
    assert largest < 1e-11 or share < 0.3, (largest, share)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rk4", "radau3", "constrained-radau5"])
def test_the_energy_of_other_methods_drifts(name):
    assert drift(name)[1] > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rattle", "variational", "constrained-gauss4", "energy-momentum"])
def test_a_start_with_all_coordinates_zero(name):
    """Round-off of positions is then that of where they go."""
    hinges = pt.library.hinge_pendulum(3)
    assert np.all(pt.OpenChain(hinges).of_state(hinges.start)[0] == 0.0)
    formulation = pt.formulate(hinges, "joint", "index3")
    problem, method, h = formulation.problem, by_name(name), 1e-3
    y = problem.pack(formulation.start(hinges.start))
    carry = method.init(problem, 0.0, h, y)
    y, _, info = jax.jit(lambda y, carry: method.step(problem, 0.0, h, y, carry))(y, carry)
    assert int(info.result) == 0 and int(info.iterations) < 8
    assert np.max(np.abs(y)) > 1e-6


@pytest.mark.slow
def test_a_run_that_fails_keeps_what_it_has():
    hinges = pt.library.hinge_pendulum(2)
    begin = hinges.joint_state({"joint0": 1.0}, rates={"joint1": 1e3})
    with pytest.raises(pt.SimulationError, match="did not converge") as failure:
        tried(hinges, begin, 10.0, 1.0, "rattle", form="index3")
    assert len(failure.value.trajectory.t) >= 1
