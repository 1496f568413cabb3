"""Declared against measured for integrators of bodies, and the matrix of all formulations."""

from collections.abc import Iterator, Sequence

import numpy as np

from poinsot.analysis._body_certificate import (
    ORDER_TOLERANCE,
    STEP,
    STEPS,
    SYMPLECTIC,
    BodyCertificate,
    body_state,
    certify_body,
)
from poinsot.analysis._body_standard import standard_body, standard_start
from poinsot.analysis._travel import travel
from poinsot.coordinates import AbstractOrientation, Directors, EulerAngles, Group, Quaternions
from poinsot.core import Result
from poinsot.equations import FORMS, Formulation
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
    formulation = choose(standard_body(), method, None, None)
    coordinates, form = formulation.bodies.coordinates, formulation.form
    certificate = certify_body(method, coordinates, form)
    factors = len(method.scheme.weights) if isinstance(method, Composition) else 1
    tolerance = 4.0 * EPS * np.sqrt(STEPS) * factors
    where = f"{certificate.coordinates}, {form!r}"
    note = f"{STEPS} steps of {STEP:g}; {where}"
    kept = method.conserves
    order = np.nan if certificate.order is None else certificate.order
    slope, one = f"declared {method.order}, slope {order:.3f}; {where}", f"h = {STEP:g}; {where}"
    yield "order", True, abs(order - method.order), ORDER_TOLERANCE, slope
    yield "symplectic", method.symplectic, _number(certificate.symplectic), SYMPLECTIC, one
    yield "symmetric", method.symmetric, _round_trip(formulation, method), 1e-13, one
    yield "energy", "energy" in kept, _number(certificate.energy), tolerance, note
    momentum = bool(kept & {"momentum", "bilinear"})
    yield "momentum", momentum, _number(certificate.momentum), tolerance, note
    yield "constraints", True, _number(certificate.position), tolerance, note


def _number(value: float | None) -> float:
    return float("inf") if value is None else value


def _round_trip(formulation: Formulation, method: AbstractIntegrator) -> float:
    """Distance of the body from its start after a step forward and one back."""
    problem = formulation.problem
    y = problem.pack(formulation.start(standard_start()))
    there = travel(problem, method, y, STEP, 1)
    back = travel(problem, method, there.y, -STEP, 1, STEP)
    if int(there.result) != Result.successful or int(back.result) != Result.successful:
        return float("inf")
    return float(np.max(np.abs(np.asarray(body_state(formulation, back.y) - body_state(formulation, y)))))
