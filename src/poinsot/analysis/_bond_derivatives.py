"""Energy of bonds with its first and second derivatives, in displacement and rotation of their two bodies."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core.types import Scalar
from poinsot.kernels import jitted
from poinsot.model import Chain
from poinsot.model._bonds import AbstractBond, AbstractParticleBond, PoseBond
from poinsot.model.potentials import AbstractPair, AbstractPosePair
from poinsot.rotation import hat

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]

AT_ONCE = 4096
"""Bonds whose derivatives are taken together; more of them take turns, to save memory."""


@dataclass(frozen=True)
class BondDerivatives:
    """Of many bonds, in displacement and rotation vector of the first body and of the second one."""

    energy: np.ndarray
    """(bond,)."""
    slope: np.ndarray
    """(bond, 12)."""
    hessian: np.ndarray
    """(bond, 12, 12)."""


def bond_derivatives(chain: Chain, x: np.ndarray, R: np.ndarray) -> BondDerivatives:
    r"""Derivatives of the energy of bonds at $x + \delta x$, $R \exp\hat w$.

    Args:
        chain: whose bonds they are.
        x: positions of the two bodies, (bond, 2, 3).
        R: their principal directors, (bond, 2, 3, 3).
    """
    energy, slope, hessian = (np.zeros((len(x), *shape)) for shape in ((), (12,), (12, 12)))
    for begin in range(0, len(x), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        for bond in chain.neighbours.bonds:
            # Particles on top of each other have no finite energy: whoever asks finds out from that.
            with np.errstate(invalid="ignore", over="ignore"):
                more = _of_bond(bond, x[part], R[part])
            for total, of_one in zip((energy, slope, hessian), more, strict=True):
                total[part] += of_one
    return BondDerivatives(energy, slope, hessian)


def _of_bond(bond: AbstractBond, x: np.ndarray, R: np.ndarray) -> Parts:
    if isinstance(bond, AbstractParticleBond):
        return _of_particles(bond, x, R)
    assert isinstance(bond, PoseBond)
    return _of_poses(bond, x, R)


def _of_particles(bond: AbstractParticleBond, x: np.ndarray, R: np.ndarray) -> Parts:
    r"""Energy and derivatives of $\sum v(|\Delta_{kl}|^2)$, by the chain rule.

    $$ \frac{\partial^2 v}{\partial\Delta^2} = 2 v' I + 4 v'' \Delta\Delta^T, \qquad
       \delta(x + R\rho) = \delta x + R\,(w \times \rho)
         + \tfrac12 R\,(w \times (w \times \rho)) + \dots $$
    """
    rho = np.asarray(bond.points)
    places = x[:, :, None] + np.einsum("nbij,kj->nbki", R, rho)
    apart = places[:, 1, None, :] - places[:, 0, :, None]
    squares = np.moveaxis(np.sum(apart * apart, axis=-1), 0, -1)
    value, first, second = (
        np.moveaxis(np.asarray(part), -1, 0) for part in _derivatives(bond.pair_potential, squares)
    )
    stiff = 4.0 * second[..., None, None] * apart[..., :, None] * apart[..., None, :]
    stiff += 2.0 * first[..., None, None] * np.eye(3)
    force = 2.0 * first[..., None] * apart
    # How the places move with the six unknowns of their body, (bond, body, particle, 3, 6).
    unit = np.broadcast_to(np.eye(3), (*places.shape, 3))
    arms = -np.einsum("nbij,kjl->nbkil", R, np.asarray(hat(jnp.asarray(rho))))
    moves = np.concatenate([unit, arms], axis=-1)
    sums = -force.sum(axis=2), force.sum(axis=1)
    slope = np.concatenate([np.einsum("nki,nkiu->nu", sums[b], moves[:, b]) for b in (0, 1)], axis=1)
    low, high = moves[:, 0], moves[:, 1]
    cross = -np.einsum("nkiu,nkliv->nuv", low, np.einsum("nklij,nljv->nkliv", stiff, high, optimize=True))
    on_low, on_high = (
        np.einsum("nkiu,nkij,nkjv->nuv", moves[:, b], stiff.sum(axis=2 - b), moves[:, b], optimize=True)
        for b in (0, 1)
    )
    for b, block in ((0, on_low), (1, on_high)):
        block[:, 3:, 3:] += _bending(np.einsum("nij,nki->nkj", R[:, b], sums[b]), rho)
    return value.sum(axis=(1, 2)), slope, np.block([[on_low, cross], [np.swapaxes(cross, 1, 2), on_high]])


def _bending(force: np.ndarray, rho: np.ndarray) -> np.ndarray:
    r"""Second derivative of $\sum f\cdot\tfrac12 w\times(w\times\rho)$, forces in the body frame."""
    mixed = np.einsum("nki,kj->nij", force, rho)
    return 0.5 * (mixed + np.swapaxes(mixed, 1, 2)) - np.einsum("nki,ki->n", force, rho)[
        :, None, None
    ] * np.eye(3)


@jitted
def _derivatives(pair: AbstractPair, squares: Array) -> tuple[Array, Array, Array]:
    """A pair potential, its first and second derivative in the squared distance."""
    squares = jnp.asarray(squares)
    return pair.value(squares), *jax.jvp(pair.slope, (squares,), (jnp.ones_like(squares),))


def _of_poses(bond: PoseBond, x: np.ndarray, R: np.ndarray) -> Parts:
    """Derivatives of a potential of relative pose, by automatic differentiation."""
    energy, slope, hessian = _pose_derivatives(bond.pose, bond.axes, jnp.asarray(x), jnp.asarray(R))
    return np.asarray(energy), np.asarray(slope), np.asarray(hessian)


@jitted
def _pose_derivatives(
    pose: AbstractPosePair, axes: Array | None, x: Array, R: Array
) -> tuple[Array, Array, Array]:
    def energy(u: Array, x: Array, R: Array) -> Scalar:
        dx, w = u.reshape(2, 2, 3)[:, 0], u.reshape(2, 2, 3)[:, 1]
        skew = hat(w)
        # To second order, which is all that second derivatives see of the exponential.
        turned = R + R @ skew + 0.5 * R @ skew @ skew
        own = turned if axes is None else turned @ axes.T[None]
        return pose.energy(x[1] + dx[1] - x[0] - dx[0], own[0], own[1])

    still = jnp.zeros(12)

    def one(x: Array, R: Array) -> tuple[Array, Array, Array]:
        return energy(still, x, R), jax.grad(energy)(still, x, R), jax.hessian(energy)(still, x, R)

    return jax.vmap(one)(x, R)
