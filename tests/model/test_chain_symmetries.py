"""Which momenta a chain conserves, for every closure and end."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model import Chain, potentials, shapes

PAIR = potentials.LennardJones(5.0, 1.0)
CASES = {
    "free": ("free", "111111"),
    "pulled along x": (("free", pt.ends.force((3.0, 0.0, 0.0))), "011100"),
    "pulled aside": (("free", pt.ends.force((1.0, 2.0, 0.0))), "001000"),
    "clamped": (("clamped", "clamped"), "000000"),
    "one end clamped": (("clamped", "free"), "000000"),
    "clamped and pulled": (("clamped", pt.ends.force((3.0, 0.0, 0.0))), "000000"),
    "held on the x axis": (("free", pt.ends.displaced((8.0, 0.0, 0.0))), "000100"),
    "held aside": (("free", pt.ends.displaced((8.0, 0.5, 0.0))), "000000"),
    "clamped and held": (("clamped", pt.ends.displaced((8.0, 0.0, 0.0))), "000000"),
    "moved": (("free", pt.ends.displaced(lambda t: jnp.stack([8.0 + t, 0.0 * t, 0.0 * t]))), "000000"),
    "periodic": ("periodic", "111100"),
    "ring": ("ring", "111111"),
}

SLOW = ("pulled aside", "one end clamped", "held aside", "clamped and held")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case in SLOW else case for case in CASES]
)
def test_conserved_momenta(case):
    ends, expected = CASES[case]
    chain = Chain(shapes.tetrahedron(), 5, 2.0, PAIR, ends)
    found = chain.symmetries(0.2, chain.straight_state(t=0.2))
    assert "".join(str(int(kept)) for kept in np.asarray(found)) == expected


def test_a_potential_of_poses_that_knows_a_direction_in_space():
    """It conserves the linear momentum, for only the difference of positions enters, and turns about z."""
    upright = potentials.PosePair(lambda d, R1, R2: jnp.sum(d * d) - R1[2, 2] * R2[2, 0] - d[2])
    chain = Chain(shapes.tetrahedron(), 4, 2.0, [PAIR, upright], "free")
    found = chain.symmetries(0.0, chain.straight_state())
    assert "".join(str(int(kept)) for kept in np.asarray(found)) == "111001"
