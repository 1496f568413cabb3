"""Waves along straight chains against finite chains and closed forms."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import dispersion, modes, stationary_point

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


@pytest.mark.parametrize("neighbours", [1, 2])
def test_waves_are_the_modes_of_a_periodic_chain(neighbours):
    r"""All of them, at $k = 2\pi n / N a$; Morse bonds under tension, with second neighbours too."""
    body = pt.shapes.two_rim_disc(0.5, 0.4, particles=8, particle_mass=0.2, axis=0)
    bonds = pt.potentials.Morse(1.0, 1.3, 1.2)
    chain = pt.Chain(body, 7, 1.1, bonds, "periodic", neighbours=neighbours)
    found = modes(chain, stationary_point(chain), None)
    waves = chain.dispersion(2.0 * np.pi * np.arange(7) / (7 * 1.1))
    squares = np.sort(waves.squares.reshape(-1))
    finite = np.sort(np.concatenate([np.zeros(found.zero), found.squares]))
    scale = np.max(np.abs(finite))
    np.testing.assert_allclose(squares, finite, rtol=1e-9, atol=1e-13 * scale)
    elsewhere = chain.dispersion(2.0 * np.pi * (np.arange(7) + 0.1) / (7 * 1.1))
    assert np.max(np.abs(np.sort(elsewhere.squares.reshape(-1)) - finite)) > 1e-3 * scale


def test_extension_and_torsion_are_monatomic_chains():
    r"""$\omega = 2\sqrt{K/m}\,|\sin(ka/2)|$ with the stiffness K of one bond in stretch, and in twist."""
    rod = pt.library.disc_rod(8, length=8.0, ends="periodic", straight=40.0, diagonal=20.0)
    waves = dispersion(rod, points=33)
    # Springs at rest act along their length: three straight ahead, six from (gap, chord).
    gap, chord = 0.5, np.sqrt(3.0) * 0.5
    length = np.hypot(gap, chord)
    stretch = 3 * 40.0 + 6 * 20.0 * (gap / length) ** 2
    # A twist moves the end of a diagonal along the tangent, 60 degrees (half the arc) off the chord.
    twist = 6 * 20.0 * (0.5 * np.cos(np.pi / 3) * chord / length) ** 2
    for component, stiffness, inertia in (
        (0, stretch, float(rod.body.mass)),
        (3, twist, float(rod.body.moments[0])),
    ):
        expected = 2.0 * np.sqrt(stiffness / inertia) * np.abs(np.sin(0.5 * waves.k))
        share = np.abs(waves.shapes[:, :, component]) ** 2 * inertia
        branch = np.argmax(share, axis=1)
        # At k = 0 four branches meet, and any mixture of them is a mode.
        assert np.min(np.max(share[1:], axis=1)) > 1.0 - 1e-9
        omega = np.take_along_axis(np.real(waves.angular), branch[:, None], axis=1)[1:, 0]
        np.testing.assert_allclose(omega, expected[1:], rtol=1e-10)
    assert waves.unstable == 0


def test_straight_tetrahedra_are_unstable():
    waves = pt.library.particle_chain(ends="periodic").dispersion(points=11)
    assert waves.unstable > 5 and np.iscomplexobj(waves.angular)


def test_a_chain_that_is_not_at_rest_has_no_waves():
    draw = np.random.default_rng(2)
    body = pt.RigidBody.from_particles([1.0, 1.0, 2.0, 1.0], 0.4 * draw.standard_normal((4, 3)))
    chain = pt.Chain(body, 6, 1.5, pt.potentials.LennardJones(1.0, 1.0), "periodic")
    with pytest.raises(pt.InputError, match="not at rest"):
        chain.dispersion()


def test_picture_of_waves():
    waves = pt.library.disc_rod(6, ends="periodic").dispersion(points=9)
    ax = waves.plot()
    lines = ax.get_lines()
    assert len(lines) == 6
    np.testing.assert_allclose(np.asarray(lines[5].get_ydata()), np.sqrt(waves.squares[:, 5]))
    np.testing.assert_allclose(np.asarray(lines[5].get_xdata()), waves.k * waves.spacing)
    pyplot.close("all")
