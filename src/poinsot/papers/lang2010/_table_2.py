"""Table 2: constraints and degrees of freedom of the lower kinematic pairs, and their null-space matrices."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.coordinates import AbstractCoordinates
from poinsot.core import AbstractConstrained, State
from poinsot.equations import Formulation, formulate
from poinsot.kernels import once
from poinsot.model import RigidBody, System, joints
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._formulations import DIRECTORS, QUATERNIONS
from poinsot.papers.lang2010._linkage import example
from poinsot.rotation import hat, to_matrix

PAIRS = {
    "planar": (joints.Planar, (3, 9, 15, 5)),
    "spherical": (joints.Spherical, (3, 9, 15, 5)),
    "cylindrical": (joints.Cylindrical, (4, 8, 16, 6)),
    "prismatic": (joints.Prismatic, (5, 7, 17, 7)),
    "revolute": (joints.Revolute, (5, 7, 17, 7)),
}
"""Joints, and their rows of the table: external constraints, degrees of freedom, all constraints in both
coordinates."""
PLACES: Any = {
    "one": ((0.1, 0.2, 0.3), (0.5, 0.5, 0.1, -0.7)),
    "two": ((1.0, -0.5, 0.2), (0.8, 0.0, 0.6, 0.0)),
}
WHERE: Any = {"at": (0.3, -0.2, 0.1), "axis": (1.0, 2.0, 2.0)}
ARMS = (jnp.array([1.0, 2.0, -3.0]), jnp.array([5.0, -6.0, -7.0]))
"""Points of the joint in the bodies of Example C."""
KINDS = {"rotation-free": (DIRECTORS, 12), "quaternionic": (QUATERNIONS, 2)}
"""Coordinates, and the internal constraints of two bodies in them."""
ROUND_OFF = 1e-13

REMARKS = [
    "Counted are ranks, by singular values, of the constraint gradients that automatic differentiation finds "
    "at a configuration without symmetry: of the joint alone in velocities and angular velocities, and of "
    "all constraints in 24 directors and positions and in 14 quaternions and positions.",
    "The null-space matrices T are those of our null-space form: products along the joint, and for "
    "quaternions the pull-back by the pseudoinverse of the Euler map, section 5. G T vanishes to round-off, "
    "and T has as many independent columns as there are degrees of freedom.",
    "The null-space matrix that section 7 prints for the ball joint of Example C has a wrong sign in its "
    "third block: with - R(d2) E(rho2) the product G T is not zero, with + it is.",
]


class Matrices(NamedTuple):
    """Of a pair at a configuration."""

    gradient: np.ndarray
    """Of all constraints in the coordinates, G."""
    null_space: np.ndarray
    """T: rates of the coordinates at unit rates."""


def table_2(quick: bool, progress: bool | None) -> Findings:
    """Ranks of the five pairs in both coordinates, and products of gradients with null-space matrices."""
    numbers = []
    for name, (kind, (external, freedom, *published)) in PAIRS.items():
        system = pair(kind)
        for title, (coordinates, internal), count in zip(KINDS, KINDS.values(), published, strict=True):
            found, row = matrices(system, coordinates), (external, freedom, count)
            numbers += _counts(f"{name}, {title}", found, internal, row)
    numbers += _ball_of_example_c()
    return Findings(
        settings={"reference poses": PLACES, "joint": WHERE},
        numbers=numbers,
        remarks=REMARKS,
    )


def _counts(title: str, found: Matrices, internal: int, row: tuple[int, int, int]) -> list[Number]:
    """A row of the table in one kind of coordinates."""
    (G, T), (external, freedom, constraints) = found, row
    rank = np.linalg.matrix_rank(G)
    return [
        Number.near(f"{title}: constraints", rank, constraints, 0),
        Number.near(f"{title}: external constraints", rank - internal, external, 0),
        Number.near(f"{title}: degrees of freedom, coordinates less rank", G.shape[1] - rank, freedom, 0),
        Number.near(f"{title}: degrees of freedom, rank of T", np.linalg.matrix_rank(T), freedom, 0),
        Number.at_most(f"{title}: largest entry of G T", largest(G @ T), ROUND_OFF, "G T = 0"),
    ]


def pair(kind: type) -> System:
    """Two bodies without symmetry and a joint."""
    bodies = [
        RigidBody(2.0, (0.5, 0.7, 0.9), name="one"),
        RigidBody(1.0, [[0.4, 0.05, 0.0], [0.05, 0.3, 0.02], [0.0, 0.02, 0.5]], name="two"),
    ]
    return System(bodies, joints=[kind("one", "two", **WHERE)], reference=PLACES)


def matrices(system: System, coordinates: AbstractCoordinates) -> Matrices:
    """Gradient of all constraints and null-space matrix at the reference poses."""
    places, quats = zip(*PLACES.values(), strict=True)
    state = system.state(position=places, rotation=quats)
    constrained = formulate(system, coordinates, "index3").problem
    assert isinstance(constrained, AbstractConstrained)
    found = _matrices(constrained, formulate(system, coordinates, "null_space"), state)
    return Matrices(*(np.asarray(one) for one in found))


@once
def _matrices(constrained: AbstractConstrained, formulation: Formulation, state: State):
    start = formulation.start(state)

    def rates(v: Array) -> Array:
        return formulation.rates(0.0, formulation.problem.pack(State(q=start.q, v=v)))[1]

    return jax.jacfwd(lambda q: constrained.constraint(0.0, q))(start.q), jax.jacfwd(rates)(start.v)


def largest(values) -> float:
    """Largest size of an entry."""
    return float(np.max(np.abs(values)))


def _ball_of_example_c() -> list[Number]:
    """Products with the null-space matrix of section 7, as printed and with the right sign."""
    constrained = formulate(example(), DIRECTORS, "index3").problem
    printed, right = (largest(_product(constrained, example().start, sign)) for sign in (-1.0, 1.0))
    title = "Example C, largest entry of G T with T of section 7"
    return [
        Number.at_most(f"{title}, + in the third block", right, ROUND_OFF, "G T = 0"),
        Number.at_least(f"{title}, - as printed", printed, 1.0, "the joint opens", 0.0),
    ]


@once
def _product(constrained, start: State, sign) -> Array:
    r"""Rates of all constraints at unit $\nu = (\dot x_1, \Omega_1, \Omega_2)$, one column each.

    $\dot x_2 = \dot x_1 - R_1 E(\rho_1)\,\Omega_1 \pm R_2 E(\rho_2)\,\Omega_2$.
    """
    bodies, R = constrained.bodies, to_matrix(start.quaternion)
    q = bodies.join(start.position.T, jnp.stack([R[0].T.reshape(9), R[1].T.reshape(9)], axis=1))

    def rate(nu: Array) -> Array:
        first, one, two = nu[:3], nu[3:6], nu[6:]
        second = first - R[0] @ (hat(ARMS[0]) @ one) + sign * R[1] @ (hat(ARMS[1]) @ two)
        twist = bodies.join(jnp.stack([first, second], axis=1), jnp.stack([one, two], axis=1))
        return jax.jvp(lambda q: constrained.constraint(0.0, q), (q,), (bodies.rate(q, twist),))[1]

    return jax.jacfwd(rate)(jnp.zeros(9))
