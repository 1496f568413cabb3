"""What is said of a method beside a run holds there, and what is advised where it fails can be done."""

import dataclasses

import jax.numpy as jnp
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.analysis._body_certificate import SYMPLECTIC
from poinsot.analysis._body_form import symplectic_defect
from poinsot.analysis._body_standard import standard_body, standard_start
from poinsot.coordinates import Directors, Group, Quaternions
from poinsot.integrators import (
    Composition,
    EnergyMomentum,
    GaussLegendre,
    ImplicitMidpoint,
    LieSplitting,
    Rattle,
    ReversibleSteps,
    SimplifiedNewton,
    StormerVerlet,
    Variational,
    by_name,
    names,
)

GAUSS = GaussLegendre(2)
FORMS = {
    "canonical": (GAUSS, Quaternions(), "hamiltonian", True),
    "null space": (GAUSS, Quaternions(), "null_space", False),
    "index 0": (GAUSS, Directors(), "index0", False),
    "radial inertia": (GAUSS, Quaternions(I0=1.0), "hamiltonian", False),
    "Runge-Kutta on the group": (GAUSS, Group(), "group", False),
    "splitting on the group": (LieSplitting(), Group(), "group", True),
    "composed": (Composition(LieSplitting(), "suzuki4"), Group(), "group", True),
    "multipliers": (Rattle(), Quaternions(), "index3", True),
}


@pytest.mark.parametrize(("method", "coordinates", "form", "symplectic"), FORMS.values(), ids=FORMS.keys())
def test_symplectic_is_said_of_canonical_equations_alone(method, coordinates, form, symplectic):
    formulation = pt.formulate(standard_body(), coordinates, form)
    assert method.symplectic and method.claims(formulation.problem).symplectic is symplectic


@pytest.mark.parametrize(
    ("method", "coordinates", "form", "symplectic"), of_the_long_suite(FORMS, {"splitting on the group"})
)
def test_symplectic_is_said_where_it_is_measured(method, coordinates, form, symplectic):
    formulation = pt.formulate(standard_body(), coordinates, form)
    defect = symplectic_defect(formulation, method, standard_start(), 0.05)
    assert defect < SYMPLECTIC if symplectic else defect > 10.0 * SYMPLECTIC


@pytest.mark.slow
def test_the_report_says_what_holds():
    headers = []
    for form in ("hamiltonian", "null_space"):
        run = pt.simulate(
            standard_body(), standard_start(), t1=0.1, dt=0.05, integrator=GAUSS, coordinates=Quaternions(),
            form=form, progress=False,
        )  # fmt: skip
        headers.append(run.report().header["integrator"])
    kept = "keeps linear and bilinear and quadratic invariants"
    assert headers == [
        f"Gauss (2 stages): order 4, symmetric, symplectic, {kept}",
        f"Gauss (2 stages): order 4, symmetric, {kept}",
    ]


def drag(q, p):
    return -0.1 * p


def test_forces_without_a_potential_void_what_is_kept():
    slowed = pt.Hamiltonian(lambda q, p: 0.5 * (p @ p + q @ q), force=drag)
    pendulum = pt.Constrained(V=lambda q: q[1], g=lambda q: (q @ q - 1.0)[None], force=lambda q, v: -v)
    for problem, method in ((slowed, GAUSS), (slowed, EnergyMomentum()), (pendulum, Rattle())):
        claims = method.claims(problem)
        assert not claims.symplectic and not claims.conserves
        assert claims.order == method.order and claims.symmetric


def test_a_right_hand_side_is_not_known_to_be_canonical():
    claims = GAUSS.claims(pt.ODE(lambda y: -y))
    assert not claims.symplectic and claims.conserves == GAUSS.conserves


@pytest.mark.parametrize("method", [EnergyMomentum(), Composition(EnergyMomentum(), "suzuki4")])
def test_no_energy_is_kept_where_time_enters(method):
    steady = pt.Hamiltonian(lambda q, p: 0.5 * (p @ p + q @ q))
    driven = pt.Hamiltonian(lambda t, q, p: 0.5 * (p @ p + q @ q) + q[0] * jnp.cos(t))
    assert method.claims(steady).conserves == {"energy"} and not method.claims(driven).conserves


@pytest.mark.parametrize("name", names())
def test_newtons_method_is_advised_where_it_can_be_taken(name):
    method = by_name(name)
    if isinstance(method, Composition):
        base = method.base
        assert (method.remedy is None) == (base.remedy is None)
        return
    if method.remedy is None:
        return
    followed = dataclasses.replace(method, solver=SimplifiedNewton())  # pyright: ignore
    assert followed.remedy is None, "nothing is advised that is done already"


@pytest.mark.parametrize(
    "method",
    [Rattle(), Variational(), EnergyMomentum(), StormerVerlet(), LieSplitting(), ReversibleSteps(Rattle())],
)
def test_others_are_not_advised_a_solver_they_do_not_take(method):
    assert method.remedy is None
    assert "SimplifiedNewton" not in pt.Result.stage_equations_not_converged.message


def test_the_message_of_a_run_has_the_advice_of_its_method(tmp_path):
    stiff, start = pt.ODE(lambda y: -1000.0 * y), pt.State(y=[1.0])
    advice = "reduce dt.*for a stiff problem use solver=pt.integrators.SimplifiedNewton()"
    for method, more in ((GAUSS, ""), (Composition(ImplicitMidpoint(), "suzuki4"), " in the base")):
        with pytest.raises(pt.SimulationError, match=advice.replace("(", r"\(").replace(")", r"\)") + more):
            pt.simulate(stiff, start, t1=1.0, dt=0.5, integrator=method, progress=False)
    newton = GaussLegendre(2, solver=SimplifiedNewton())
    assert pt.simulate(stiff, start, t1=1.0, dt=0.5, integrator=newton, progress=False).result.ok
    failed = pt.simulate(stiff, start, t1=1.0, dt=0.5, integrator=GAUSS, progress=False, throw=False)
    failed.save(tmp_path / "run.zarr")
    assert pt.load(tmp_path / "run.zarr").message == failed.message


@pytest.mark.slow
def test_a_step_without_a_solution_advises_a_shorter_one():
    top = pt.library.free_body((1.0, 1.3, 1.7))
    start = top.state(angular_velocity=(0.0, 0.0, 30.0))
    with pytest.raises(pt.SimulationError) as caught:
        pt.simulate(
            top, start, t1=1.0, dt=0.1, integrator=Variational(), coordinates=Quaternions(sigma=0),
            form="index3", progress=False,
        )  # fmt: skip
    assert "reduce dt" in str(caught.value) and "SimplifiedNewton" not in str(caught.value)
