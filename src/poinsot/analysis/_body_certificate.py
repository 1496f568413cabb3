r"""What an integrator keeps of rigid bodies, in any coordinates and any form of the equations.

Everything is measured on the motion of the bodies themselves, so that numbers of different formulations can
be compared: on one body, on a tree of bodies and joints, and on a loop.
"""

from dataclasses import asdict, dataclass

import numpy as np

from poinsot.analysis._body_form import symplectic_defect
from poinsot.analysis._body_standard import standard_top
from poinsot.analysis._mechanism_standard import standard_loop, standard_tree
from poinsot.analysis._order import fit_slope
from poinsot.analysis._specimen import Specimen, seen
from poinsot.analysis._travel import travel
from poinsot.coordinates import AbstractOrientation, as_coordinates
from poinsot.core import Packed, Registry, Result, checked
from poinsot.equations import FORMS, MOMENTA, Formulation, formulate, refusal
from poinsot.integrators import AbstractIntegrator, as_fixed
from poinsot.solvers import EPS

LADDER = tuple(sorted({2**k for k in range(3, 15)} | {3 * 2**k for k in range(2, 13)}))
"""Numbers of steps up to the end with which the order is measured."""
STEPS = 2000
"""Steps of the long run."""
ORDER_TOLERANCE = 0.15
SYMPLECTIC = 1e-12
"""Largest scaled defect of the canonical form that counts as round-off."""
SPECIMENS = Registry("system", {"body": standard_top, "tree": standard_tree, "loop": standard_loop})
"""What certificates are measured on."""


@dataclass(frozen=True)
class BodyCertificate:
    """Measured properties of one combination; None where it is refused."""

    coordinates: str
    form: str
    integrator: str
    refused: str | None
    """Why the combination is not possible."""
    declared_order: int
    claims_symplectic: bool = False
    """Whether the integrator declares it, and the equations have the structure that it keeps."""
    order: float | None = None
    """Slope of the error of positions, rotations and velocities."""
    symplectic: float | None = None
    """Scaled defect of the canonical form over one step."""
    energy: float | None = None
    """Largest deviation over the long run, relative to the size of its terms."""
    momentum: float | None = None
    """The same of the momenta that are conserved: of a body, a tree and a loop the vertical angular one."""
    position: float | None = None
    """Largest residual of the constraints, or of the unit norm, and of joints, over the long run."""
    velocity: float | None = None
    """Largest residual of their rates."""
    result: str = Result.successful.name
    """How the long run ended."""
    symmetric: float | None = None
    """Distance from the start after a step forward and one back."""
    specimen: str = "body"
    """What it was measured on."""

    @property
    def confirmed(self) -> bool:
        """Whether the declared order shows, and symplecticity where it is claimed."""
        if self.refused is not None:
            return True
        assert self.order is not None and self.symplectic is not None
        right_order = abs(self.order - self.declared_order) <= ORDER_TOLERANCE
        return right_order and (self.symplectic <= SYMPLECTIC or not self.claims_symplectic)

    def to_dict(self) -> dict:
        """Plain data, ready for JSON."""
        return {key: _plain(value) for key, value in asdict(self).items()}


@checked
def certify_body(
    integrator: AbstractIntegrator | str,
    coordinates: AbstractOrientation | str,
    form: str,
    *,
    specimen: str | Specimen = "body",
) -> BodyCertificate:
    """Measure one combination.

    Args:
        integrator: the method, or its name.
        coordinates: of the rotation, or their name.
        form: of the equations.
        specimen: on what: "body", one with a fixed point; "tree", two bodies on joints; "loop", a
            slider-crank with one redundant condition; or one of your own.
    """
    integrator, coordinates = as_fixed("certify_body", integrator), as_coordinates(coordinates)
    form = FORMS.name_of(form)
    on = specimen if isinstance(specimen, Specimen) else SPECIMENS.find(specimen)()
    about = (str(coordinates), form, integrator.name)
    reason = refusal(on.system, coordinates, form)
    if reason is None:
        reason = integrator.refusal(formulate(on.system, coordinates, form).problem)
    if reason is not None:
        return BodyCertificate(*about, reason, integrator.order, specimen=on.name)
    formulation = formulate(on.system, coordinates, form)
    watched = formulation.watched(on.start)
    y = formulation.problem.pack(formulation.start(on.start))
    run = travel(watched.problem, integrator, y, on.step, STEPS)
    kept = {name: float(np.max(np.asarray(value))) for name, value in run.deviation.items()}
    momenta = [kept[name] for name in MOMENTA if name in kept]
    return BodyCertificate(
        *about,
        None,
        integrator.order,
        claims_symplectic=integrator.claims(formulation.problem).symplectic,
        order=_order(watched, integrator, y, on),
        symplectic=symplectic_defect(formulation, integrator, on.start, on.step),
        symmetric=_round_trip(watched, integrator, y, on),
        energy=kept["energy"] / on.energy,
        momentum=max(momenta) / on.momentum if momenta else None,
        position=max(kept.get("constraint", 0.0), kept.get("joints", 0.0)),
        velocity=max(kept.get("constraint rate", 0.0), kept.get("joint rates", 0.0)),
        result=Result(int(run.result)).name,
        specimen=on.name,
    )


def _order(formulation: Formulation, integrator: AbstractIntegrator, y: Packed, on: Specimen) -> float:
    """Slope of the error at the end over a ladder of steps, down to round-off."""
    exact = np.asarray(on.end())
    h, errors, floors = [], [], []
    for count in LADDER:
        end = travel(formulation.problem, integrator, y, on.t1 / count, count)
        now = np.asarray(seen(formulation, end.y))
        h.append(on.t1 / count)
        errors.append(float(np.max(np.abs(now - exact))) if end.ok else np.inf)
        floors.append(500.0 * EPS * np.sqrt(count))
        if not integrator.holds_velocity:
            # Round-off of a position is that over the step in its rate, and nothing takes it out again.
            floors[-1] *= count / on.t1
        if errors[-1] < floors[-1]:
            break
    return fit_slope(np.array(h), np.array(errors), np.array(floors))[0]


def _round_trip(formulation: Formulation, method: AbstractIntegrator, y: Packed, on: Specimen) -> float:
    """Distance of the bodies from their start after a step forward and one back."""
    there = travel(formulation.problem, method, y, on.step, 1)
    back = travel(formulation.problem, method, there.y, -on.step, 1, on.step)
    if not (there.ok and back.ok):
        return float("inf")
    return float(np.max(np.abs(np.asarray(seen(formulation, back.y) - seen(formulation, y)))))


def _plain(value):
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
