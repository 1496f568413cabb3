"""Natural modes: zero modes of every end, exact cases, and the spectrum of a small motion."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.analysis import _spectrum, modes, stationary_point
from poinsot.analysis._displacements import numbering, point_of
from poinsot.analysis._expansion import expansion

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from poinsot.viz._modes_plots import COMPONENTS  # noqa: E402

DISCS = pt.library.disc_rod(6, length=3.0)
"""Six discs, 0.6 apart."""


def discs(ends):
    """The same discs and springs with other ends."""
    springs = DISCS.neighbours.bonds[0].pair_potential  # pyright: ignore[reportAttributeAccessIssue]
    potential = pt.potentials.HarmonicPair(springs.stiffness[:, :, 0], springs.length[:, :, 0])
    return pt.Chain(DISCS.body, 6, DISCS.spacing, potential, ends)


END = pt.ends.displaced((3.0, 0.0, 0.0))
ENDS = {
    "free": ("free", 6),
    "ring": ("ring", 6),
    "periodic": ("periodic", 4),
    "clamped": ("clamped", 0),
    "clamped and free": (("clamped", "free"), 0),
    "force": (("clamped", pt.ends.force((0.5, 0.2, 0.0))), 0),
    "displaced": (("clamped", END), 0),
    # Three rotations about the one point that is held; one about the line through two.
    "displaced and free": (("free", END), 3),
    "displaced twice": ((pt.ends.displaced((0.0, 0.0, 0.0)), END), 1),
}


@pytest.mark.parametrize("name", of_the_long_suite(list(ENDS), {"free", "clamped and free", "ring"}))
def test_zero_modes_of_every_end(name):
    """As many as rigid motions are left, and all other modes well apart from them."""
    ends, expected = ENDS[name]
    chain = discs(ends)
    rest = stationary_point(chain)
    assert rest.kind == "minimum"
    found = chain.modes(rest, None)
    assert found.zero == found.rigid == rest.zero == expected
    assert len(found) + found.zero == numbering(chain).size
    assert np.min(np.abs(found.squares)) > 1e-6 * np.max(np.abs(found.squares))
    assert found.shapes.shape == (len(found), 6, 6)
    assert found.unstable == 0 and np.isrealobj(found.angular)


def test_unstable_modes_have_imaginary_frequencies():
    """Straight tetrahedra are at a saddle."""
    chain = pt.library.particle_chain(count=4)
    found = chain.modes(stationary_point(chain), None)
    assert found.unstable == np.count_nonzero(found.squares < 0.0) > 0
    growing = found.angular[: found.unstable]
    assert np.all(np.real(growing) == 0.0) and np.all(np.imag(growing) > 0.0)
    assert "i\n" in repr(found) and f"{found.unstable} unstable" in repr(found)


def test_pendulum():
    r"""A top that hangs swings with $\omega^2 = mgl/I$ about two axes, and turns freely about the third."""
    top = pt.library.heavy_top(inertia=(50.0, 42.0, 10.0), mgl=100.0)
    hanging = stationary_point(top, top.state(rotation=pt.rotation.about_x(3.0)))
    found = modes(top, hanging)
    assert found.zero == 1
    np.testing.assert_allclose(found.squares, [100.0 / 50.0, 100.0 / 42.0], rtol=1e-12)
    np.testing.assert_allclose(found.frequencies, found.angular / (2.0 * np.pi), rtol=1e-15)
    np.testing.assert_allclose(np.abs(found.shapes[0, 0, 3:]), [50.0**-0.5, 0.0, 0.0], atol=1e-12)


def test_bodies_on_springs():
    """Two masses between walls on three springs: k/m and 3 k/m, of an ordinary system."""
    body = pt.RigidBody(mass=2.0, inertia=(1.0, 1.0, 1.0))
    springs = lambda x, R: 1.5 * (jnp.sum(x[0] ** 2) + jnp.sum((x[1] - x[0]) ** 2) + jnp.sum(x[1] ** 2))  # noqa: E731
    system = pt.System([body, body], freedom=[pt.freedom.Translation()] * 2, potentials=[springs])
    found = modes(system, system.state())
    np.testing.assert_allclose(found.squares, [1.5] * 3 + [4.5] * 3, rtol=1e-14)


@pytest.mark.slow
def test_shapes_have_unit_mass_and_the_energy_of_their_frequency():
    chain = discs("clamped")
    found = chain.modes(stationary_point(chain), None)
    weights = np.concatenate([np.full(3, float(chain.body.mass)), np.asarray(chain.body.moments)])
    products = np.einsum("abi,i,cbi->ac", found.shapes, weights, found.shapes)
    np.testing.assert_allclose(products, np.eye(24), atol=1e-12)
    order, q = numbering(chain), 1e-4
    for mode in (0, 7, 23):
        near = expansion(chain, point_of(chain, found.state(mode, q)), order)
        assert near.energy == pytest.approx(0.5 * found.squares[mode] * q**2, rel=1e-3)
    moving = found.state(2, 0.0, velocity=0.1)
    rotations = pt.rotation.to_matrix(moving.quaternion)
    kinetic = chain.kinetic(moving.position, rotations, moving.velocity, moving.angular_velocity)
    assert float(kinetic) == pytest.approx(0.5 * 0.1**2, rel=1e-12)


@pytest.mark.parametrize("ends", ["free", "clamped"])
def test_long_chains_take_another_way_to_the_same_modes(ends, monkeypatch):
    """Lanczos and the signs of pivots against all eigenvalues at once."""
    chain = discs(ends)
    rest = stationary_point(chain)
    at_once = chain.modes(rest, 5)
    monkeypatch.setattr(_spectrum, "DENSE", 10)
    found = chain.modes(rest, 5)
    assert found.unstable == at_once.unstable and found.zero == at_once.zero
    np.testing.assert_allclose(found.squares, at_once.squares, rtol=1e-9)


def test_only_states_of_rest_have_modes():
    chain = pt.library.particle_chain(count=4, ends="free")
    with pytest.raises(pt.InputError, match="the largest force on it is"):
        chain.modes(chain.straight_state())


@pytest.mark.slow
def test_spectrum_of_a_small_motion():
    """Peaks of the power spectrum of a run are at the frequencies of the relaxed chain, and nowhere else."""
    chain = pt.library.particle_chain(count=4, spacing=1.5)
    rest = chain.equilibrium(starts=2)
    assert rest.stable
    found = chain.modes(rest, None)
    draw = np.random.default_rng(5)
    kick = np.einsum("m,mbi->bi", 1e-5 * draw.choice([-1.0, 1.0], len(found)), found.shapes)
    start = chain.state(rest.state.position, rest.state.quaternion, kick[:, :3], kick[:, 3:])
    dt, steps = 0.03 / float(found.angular[-1]), 2**17
    run = pt.simulate(
        chain,
        start,
        t1=steps * dt,
        dt=dt,
        save_every=8,
        coordinates=pt.coordinates.Group(),
        integrator=pt.integrators.LieSplitting(),
    )
    rates = np.concatenate([run.velocity, run.angular_velocity], axis=-1)[1:].reshape(steps // 8, -1)
    window = np.hanning(len(rates))[:, None]
    power = np.sum(np.abs(np.fft.rfft(window * rates, axis=0)) ** 2, axis=1)
    omega = 2.0 * np.pi * np.fft.rfftfreq(len(rates), 8.0 * dt)
    resolution = omega[1]
    assert np.min(np.diff(found.angular)) > 4.0 * resolution, "peaks must be apart to be told apart"
    peaks = [
        i for i in range(1, len(power) - 1) if power[i] > max(power[i - 1], power[i + 1], 1e-4 * power.max())
    ]
    assert len(peaks) == len(found) == 12
    np.testing.assert_allclose(omega[peaks], found.angular, atol=resolution)
    straight = stationary_point(chain)
    others = np.abs(modes(chain, straight, None).angular)
    assert np.max(np.abs(np.sort(others) - omega[peaks])) > 10.0 * resolution


def test_picture_of_modes():
    chain = discs("clamped")
    found = chain.modes(stationary_point(chain), 8)
    figure = found.plot(count=3)
    left, *panels = figure.get_axes()
    drawn = [line for line in left.get_lines() if line.get_label() == "stable"][0]
    np.testing.assert_allclose(np.asarray(drawn.get_ydata()), found.angular)
    assert len(panels) == 3
    curves = {line.get_label(): np.asarray(line.get_ydata()) for line in panels[0].get_lines()}
    largest = int(np.argmax(np.max(np.abs(found.shapes[0]), axis=0)))
    np.testing.assert_allclose(curves[COMPONENTS[largest]], found.shapes[0, :, largest])
    pyplot.close("all")
