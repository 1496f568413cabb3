"""Every quantity of the paper for a chain of six joints, beside the same from particles."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.kernels import once
from poinsot.model import OpenChain
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.zoric2010._particles import every
from poinsot.papers.zoric2010._six_joints import KINDS, TAU, A, Q, V, system
from poinsot.rotation import multiply, to_matrix
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EQUATIONS = {
    "R(p_0,i)": "(33)",
    "e_a": "(37)",
    "r_i": "(35)",
    "T_a(i)": "(61)",
    "Omega_a(i)": "(78)",
    "V_i": "(63)",
    "a_i": "(74)",
    "omega_i": "(77)",
    "Pi_i": "(128)",
    "E_k": "(90)",
    "a_ab": "(98)",
    "Gamma_ab,c": "(129)",
    "Q_c": "(104)",
    "forces of the covariant equations": "(109)",
    "accelerations of the covariant equations": "(109)",
}
WITHIN = 1e-12
"""Of the largest entry."""
SOURCE = "derivatives of the places of particles"

REMARKS = [
    "The paper derives its equations and computes no example. Ours is a chain of six bodies of five "
    "particles each, with revolute and prismatic joints in turn; it is compared at one state without "
    "symmetry.",
    "Our values are those of OpenChain, by recursions along the axes and planar moments. It turns bodies "
    "by rotation matrices, as quaternions turn only balls and free bodies there; the products of the paper's "
    "quaternions are judged beside these. The others know rotation matrices by Rodrigues' formula and the "
    "places of particles, and differentiate: no moment of inertia, no quaternion and no closed form of a "
    "Christoffel symbol is in them.",
    "Of each quantity its largest entry is shown beside the other value, and the largest difference over all "
    "entries is judged.",
    "Read in the paper: sums of rho_kk in (35) and (61) up to the joint of the body itself, i - 1; the minus "
    "of (123) in (95) and (96); q'' in the first terms of (68) and (74); one factor 1 in (127), as in (129). "
    "As printed these are no derivatives of each other.",
]


def quantities(quick: bool, progress: bool | None) -> Findings:
    """All quantities at one state, ours and those of particles."""
    ours, theirs = (
        {name: np.asarray(value) for name, value in one.items()}
        for one in _both(OpenChain(system()), Q, V, A, TAU)
    )
    differences, numbers = {}, []
    for name, equation in EQUATIONS.items():
        scale = float(np.max(np.abs(theirs[name])))
        differences[name] = float(np.max(np.abs(ours[name] - theirs[name]))) / scale
        place = np.unravel_index(np.argmax(np.abs(theirs[name])), theirs[name].shape)
        where = f"[{', '.join(str(k + 1) for k in place)}]" if place else ""
        title, tolerance = f"{name} {equation}", WITHIN * scale
        numbers += [
            Number.matches(
                f"{title}{where}", ours[name][place], float(theirs[name][place]), tolerance, SOURCE
            ),
            Number.at_most(f"{title}: largest difference, relative", differences[name], WITHIN, SOURCE),
        ]
    numbers += _symmetries(ours)
    return Findings(
        settings={
            "joints": KINDS,
            "q": Q.tolist(),
            "rates": V.tolist(),
            "second rates": A.tolist(),
            "forces in the joints": TAU.tolist(),
        }
        | {"values": {name: value.tolist() for name, value in ours.items()}},
        numbers=numbers,
        remarks=REMARKS,
        figures={"": _draw(ours, differences)},
    )


@once
def _both(chain: OpenChain, q, v, a, tau) -> tuple[dict[str, Array], dict[str, Array]]:
    return of_chain(chain, q, v, a, tau), every(
        jnp.asarray(q), jnp.asarray(v), jnp.asarray(a), jnp.asarray(tau)
    )


def of_chain(chain: OpenChain, q, v, a, tau) -> dict[str, Array]:
    """All quantities by name, of an open chain."""
    names, state = chain.system.names, chain.state(q, v)
    columns = jnp.stack([chain.jacobian(q, name) for name in names])
    motion = jnp.stack([chain.velocity(q, v, name) for name in names])
    kinetic = chain.energy(q, v) - chain.energy(q, jnp.zeros_like(v))
    return {
        "R(p_0,i)": to_matrix(state.quaternion),
        "e_a": chain.axes(q),
        "r_i": state.position,
        "T_a(i)": jnp.moveaxis(columns[:, :3], 2, 0),
        "Omega_a(i)": jnp.moveaxis(columns[:, 3:], 2, 0),
        "V_i": motion[:, :3],
        "a_i": jnp.stack([chain.acceleration(q, v, a, name)[:3] for name in names]),
        "omega_i": motion[:, 3:],
        "Pi_i": jnp.stack([body.euler_tensor for body in chain.system.bodies]),
        "E_k": kinetic,
        "a_ab": chain.metric(q),
        "Gamma_ab,c": chain.christoffel(q),
        "Q_c": -chain.gravity(q),
        "forces of the covariant equations": chain.inverse_dynamics(q, v, a),
        "accelerations of the covariant equations": chain.forward_dynamics(q, v, tau),
        "p_0,i": _composite(chain, q),
    }


def _composite(chain: OpenChain, q) -> Array:
    """Products of the quaternions (31) of the joints, from the ground outwards."""
    zero = jnp.zeros_like(q)
    axes, product, found = chain.axes(zero), jnp.array([1.0, 0.0, 0.0, 0.0]), []
    for i, kind in enumerate(KINDS):
        half = 0.5 * q[i] if kind == "R" else 0.0 * q[i]
        product = multiply(product, jnp.concatenate([jnp.cos(half)[None], jnp.sin(half) * axes[i]]))
        found.append(product)
    return jnp.stack(found)


def _symmetries(ours: dict[str, np.ndarray]) -> list[Number]:
    """What the paper says of its quantities: (101), (110), and composite quaternions that turn."""
    metric, symbols = ours["a_ab"], ours["Gamma_ab,c"]
    turned = np.asarray(jax.vmap(to_matrix)(jnp.asarray(ours["p_0,i"])))
    swapped = np.max(np.abs(symbols - np.swapaxes(symbols, 0, 1)))
    return [
        Number.near("a_ab less a_ba (101), largest", float(np.max(np.abs(metric - metric.T))), 0.0, 1e-14),
        Number.near("Gamma_ab,c less Gamma_ba,c (110), largest", float(swapped), 0.0, 1e-14),
        Number.near(
            "R of the product p_1 ... p_i (33) less R of the body, largest",
            float(np.max(np.abs(turned - ours["R(p_0,i)"]))),
            0.0,
            1e-14,
        ),
    ]


@styled
def _draw(ours: dict[str, np.ndarray], differences: dict[str, float]) -> "Figure":
    figure, (left, right) = canvas(
        1, 2, (12.0, 5.0), "Six joints: metric tensor, and distance from particles"
    )
    metric = ours["a_ab"]
    left.imshow(np.abs(metric), cmap="Blues")
    for (i, j), value in np.ndenumerate(metric):
        dark = abs(value) > 0.6 * np.max(np.abs(metric))
        left.text(
            j, i, f"{value:.3g}", ha="center", va="center", fontsize=9, color="white" if dark else "black"
        )
    ticks = [f"{k + 1} {kind}" for k, kind in enumerate(KINDS)]
    left.set(xticks=range(len(ticks)), xticklabels=ticks, yticks=range(len(ticks)), yticklabels=ticks)
    left.set_title("a_ab; R revolute, P prismatic")
    left.grid(visible=False)
    names = list(differences)
    shown = [max(differences[name], 1e-17) for name in names]
    right.semilogx(shown, range(len(names)), "o", color=PALETTE[0])
    right.axvline(WITHIN, color=PALETTE[1], linewidth=1.0)
    right.set_yticks(range(len(names)), [f"{name} {EQUATIONS[name]}" for name in names])
    right.invert_yaxis()
    right.set(xlabel="largest difference, relative to the largest entry", xlim=(5e-18, 5e-12))
    return figure
