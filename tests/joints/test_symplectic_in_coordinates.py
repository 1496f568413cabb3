"""Steps with multipliers and compositions of high order are symplectic on the surface of closed joints.

The contract test measures registered methods in the coordinates that they take by default; here are others.
"""

from typing import Any

import pytest

import poinsot as pt
from poinsot.analysis import certify_body
from poinsot.analysis._body_certificate import SPECIMENS, SYMPLECTIC
from poinsot.analysis._body_form import symplectic_defect
from poinsot.integrators import (
    AbstractIntegrator,
    Composition,
    ConstrainedGauss,
    ConstrainedLobatto,
    EnergyMomentum,
    LieRattle,
    Rattle,
    Variational,
)

pytestmark = pytest.mark.slow
MECHANISMS = pytest.mark.parametrize("mechanism", ["tree", "loop"])

IN_COORDINATES: dict[str, tuple[Any, str, AbstractIntegrator]] = {
    "rattle, directors": ("directors", "index3", Rattle()),
    "variational, sigma": (pt.coordinates.Quaternions(sigma="mean"), "index3", Variational()),
    "variational, directors": ("directors", "index3", Variational()),
    "gauss, directors": ("directors", "index3", ConstrainedGauss(2)),
    "gauss, hamiltonian": ("quaternions", "hamiltonian", ConstrainedGauss(2)),
    "lobatto, directors": ("directors", "index3", ConstrainedLobatto(3)),
}


def defect(mechanism: str, coordinates: Any, form: str, method: AbstractIntegrator) -> float:
    on = SPECIMENS[mechanism]()
    return symplectic_defect(pt.formulate(on.system, coordinates, form), method, on.start, on.step)


@MECHANISMS
@pytest.mark.parametrize("name", IN_COORDINATES)
def test_a_step_with_multipliers_is_symplectic_in_other_coordinates(name, mechanism):
    assert defect(mechanism, *IN_COORDINATES[name]) < SYMPLECTIC


@MECHANISMS
def test_closed_joints_and_symmetry_do_not_make_energy_momentum_symplectic(mechanism):
    assert defect(mechanism, "directors", "index3", EnergyMomentum()) > 1e3 * SYMPLECTIC


COMPOSED = {
    "lie-rattle, order 8": Composition(LieRattle(), "yoshida8"),
    "rattle, order 6": Composition(Rattle(), "kahan-li6"),
    "rattle, order 8": Composition(Rattle(), "yoshida8"),
    "variational, order 6": Composition(Variational(), "kahan-li6"),
}
"""Beside the registered ones. The errors of Yoshida's scheme are large enough to show its order."""


@MECHANISMS
@pytest.mark.parametrize("name", COMPOSED)
def test_compositions_of_high_order_with_joints(name, mechanism):
    method = COMPOSED[name]
    by_default = ("group", "group") if "lie" in name else ("quaternions", "index3")
    found = certify_body(method, *by_default, specimen=mechanism)
    assert found.order == pytest.approx(int(name[-1]), abs=0.15) and method.order == int(name[-1])
    assert found.symplectic is not None and found.symplectic < SYMPLECTIC
    assert found.symmetric is not None and found.symmetric < 1e-13
    assert found.position is not None and found.position < 1e-12
    assert found.velocity is not None and found.velocity < 1e-12
