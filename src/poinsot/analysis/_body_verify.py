"""Declared against measured for integrators of bodies, and the matrix of all formulations."""

from collections.abc import Iterator, Sequence

import numpy as np

from poinsot.analysis._body_certificate import (
    ORDER_TOLERANCE,
    SPECIMENS,
    STEPS,
    SYMPLECTIC,
    BodyCertificate,
    certify_body,
)
from poinsot.coordinates import AbstractOrientation, Directors, EulerAngles, Group, Quaternions
from poinsot.core import checked
from poinsot.equations import FORMS
from poinsot.integrators import AbstractIntegrator, Composition
from poinsot.simulation._subject import choose
from poinsot.solvers import EPS

COORDINATES: tuple[AbstractOrientation, ...] = (
    Quaternions(),
    Quaternions(sigma="mean"),
    Quaternions(I0=1.0),
    Directors(),
    Directors(sigma="mean"),
    EulerAngles("zxz"),
    Group(),
)
"""Coordinates of the matrix."""

METHODS = (
    "rk4",
    "gauss4",
    "verlet",
    "rattle",
    "variational",
    "energy-momentum",
    "constrained-radau5",
    "lie-splitting",
    "lie-splitting-exact",
    "lie-rattle",
    "lie-midpoint",
    "munthe-kaas4",
    "krysl-endres",
    "terze-rattle",
)
"""Integrators of the matrix, by their short names."""


@checked
def body_matrix(methods: Sequence[str] = METHODS) -> Iterator[BodyCertificate]:
    """Certificates of every coordinates, form and integrator, refused combinations included, one by one."""
    for name in methods:
        for coordinates in COORDINATES:
            for form in FORMS:
                yield certify_body(name, coordinates, form)


def measured_claims(method: AbstractIntegrator) -> Iterator[tuple[str, bool, float, float, str]]:
    """What an integrator of bodies claims, on the coordinates and form it takes by default.

    Yields:
        Name of the property, whether it is declared, what was measured, the tolerance, and a note.
    """
    return _claims_on("body", method)


def claims_with_joints(method: AbstractIntegrator) -> Iterator[tuple[str, bool, float, float, str]]:
    """The same on a tree and on a loop, of one that holds joints; nothing of others."""
    for mechanism in ("tree", "loop") if method.traits.holds_joints else ():
        for claim, declared, measured, tolerance, note in _claims_on(mechanism, method):
            yield f"{claim}, {mechanism}", declared, measured, tolerance, note


def _claims_on(specimen: str, method: AbstractIntegrator) -> Iterator[tuple[str, bool, float, float, str]]:
    """The claims as measured on one specimen."""
    on = SPECIMENS[specimen]()
    formulation = choose(on.system, method, None, None)
    coordinates, form = formulation.bodies.coordinates, formulation.form
    certificate = certify_body(method, coordinates, form, specimen=specimen)
    factors = len(method.scheme.weights) if isinstance(method, Composition) else 1
    tolerance = 4.0 * EPS * np.sqrt(STEPS) * factors
    where = f"{certificate.coordinates}, {form!r}"
    note = f"{STEPS} steps of {on.step:g}; {where}"
    kept = method.conserves
    order = np.nan if certificate.order is None else certificate.order
    slope, one = f"declared {method.order}, slope {order:.3f}; {where}", f"h = {on.step:g}; {where}"
    yield "order", True, abs(order - method.order), ORDER_TOLERANCE, slope
    yield "symplectic", method.symplectic, _number(certificate.symplectic), SYMPLECTIC, one
    yield "symmetric", method.symmetric, _number(certificate.symmetric), 1e-13, one
    yield "energy", "energy" in kept, _number(certificate.energy), tolerance, note
    if certificate.momentum is not None:
        momentum = bool(kept & {"momentum", "bilinear"})
        yield "momentum", momentum, _number(certificate.momentum), tolerance, note
    yield "constraints", True, _number(certificate.position), tolerance, note
    if specimen != "body":
        yield "rates of joints", method.holds_velocity, _number(certificate.velocity), tolerance, note


def _number(value: float | None) -> float:
    return float("inf") if value is None else value
