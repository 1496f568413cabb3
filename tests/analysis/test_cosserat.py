"""The Cosserat rod of a chain: its stiffness, its spectra, and chains that converge to it."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import poinsot as pt
from poinsot.analysis import CosseratRod, cosserat_comparison, cosserat_rod

pytestmark = pytest.mark.slow

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

ROD = CosseratRod(np.diag([3.0, 1.1, 0.9, 0.2, 0.5, 0.7]), 1.3, np.diag([0.6, 0.25, 0.35]))


def screw(strain, length):
    """Pose at a distance along a rod of uniform strain, by the exponential of a 4x4 matrix."""
    stretch, bend = np.array([1.0, 0.0, 0.0]) + strain[:3], strain[3:]
    twist = np.zeros((4, 4))
    twist[:3, :3] = np.array([[0, -bend[2], bend[1]], [bend[2], 0, -bend[0]], [-bend[1], bend[0], 0]])
    twist[:3, 3] = stretch
    pose = expm(length * twist)
    return pose[:3, 3], pose[:3, :3]


def energy_density(points, value, strain, spacing, order):
    """Energy per length of an endless chain of uniform strain, from places of particles alone."""
    total = 0.0
    for reach in range(1, order + 1):
        x, R = screw(strain, reach * spacing)
        apart = (x + points @ R.T)[None] - points[:, None]
        total += np.sum(value(np.sum(apart**2, axis=-1)))
    return total / spacing


def second_differences(function, h=2e-4):
    """Matrix of second derivatives at zero, by central differences of fourth order in each pair."""
    steps, n = h * np.eye(6), 6
    cross = lambda i, j, s: (  # noqa: E731
        function(s * (steps[i] + steps[j])) + function(-s * (steps[i] + steps[j]))
        - function(s * (steps[i] - steps[j])) - function(-s * (steps[i] - steps[j]))
    ) / (4.0 * (s * h) ** 2)  # fmt: skip
    return np.array([[(4.0 * cross(i, j, 1.0) - cross(i, j, 2.0)) / 3.0 for j in range(n)] for i in range(n)])


BODY = pt.shapes.two_rim_disc(0.5, 0.4, particles=6, particle_mass=0.2, axis=0)
POINTS = np.asarray(BODY.principal_points)
BONDS = pt.potentials.Morse(2.0, 1.0 / 1.3, 1.2)


def morse(squares):
    return 2.0 * (1.0 - np.exp(-1.3 * (np.sqrt(squares) - 1.2))) ** 2


@pytest.fixture(scope="module")
def spacing():
    """Where bonds with first neighbours push as much as those with second neighbours pull."""

    def tension(a):
        h = 1e-5
        stretched = [energy_density(POINTS, morse, np.eye(6)[0] * e, a, 2) for e in (h, -h)]
        return (stretched[0] - stretched[1]) / (2.0 * h)

    return float(brentq(tension, 0.7, 1.4, xtol=1e-12))  # pyright: ignore[reportArgumentType]


def test_stiffness_is_that_of_uniformly_strained_chains(spacing):
    """Bonds with first and second neighbours, under stress each, in balance together."""
    found = cosserat_rod(pt.Chain(BODY, 6, spacing, BONDS, "free", neighbours=2))
    expected = second_differences(lambda e: energy_density(POINTS, morse, e, spacing, 2))
    np.testing.assert_allclose(found.stiffness, expected, atol=3e-6 * np.max(np.abs(expected)))
    assert found.mass == pytest.approx(1.2 / spacing) and found.coupling < 1e-9
    alone = second_differences(lambda e: energy_density(POINTS, morse, e, spacing, 1))
    assert np.max(np.abs(found.stiffness - alone)) > 1e-2 * np.max(np.abs(expected))


def test_waves_of_a_rod():
    """Extension and torsion without dispersion, and Timoshenko's equation for each plane."""
    k = np.array([0.3, 1.7])
    for one, squares in zip(k, ROD.waves(k), strict=True):
        expected = [3.0 / 1.3 * one**2, 0.2 / 0.6 * one**2]
        # (GA k² - m w²)(EI k² + GA - I w²) - GA² k² = 0, a quadratic equation in w².
        for GA, EI, inertia in ((1.1, 0.7, 0.35), (0.9, 0.5, 0.25)):
            a, b = 1.3 * inertia, -(1.3 * (EI * one**2 + GA) + inertia * GA * one**2)
            expected.extend(np.roots([a, b, GA * EI * one**4]))
        np.testing.assert_allclose(squares, np.sort(np.real(expected)), rtol=1e-12)


def clamped_determinant(omega, length, GA, EI, inertia):
    """Of the forces at one end that leave the other end clamped: zero at a natural frequency."""
    # u' = N/GA + theta, theta' = M/EI, N' = -m w² u, M' = -N - I w² theta.
    system = np.array(
        [[0, 1, 1 / GA, 0], [0, 0, 0, 1 / EI], [-1.3 * omega**2, 0, 0, 0], [0, -inertia * omega**2, -1, 0]]
    )
    return np.linalg.det(expm(length * system)[:2, 2:])


def test_spectrum_of_a_clamped_rod():
    """Closed forms of extension and torsion; Timoshenko's beam by the exponential of its equations."""
    length = 4.0
    squares, parts = ROD.spectrum(length, ("clamped", "clamped"))
    n = np.arange(1, 5)
    of = lambda *places: np.sqrt(squares[np.sum(parts[:, places], axis=1) > 0.999])  # noqa: E731
    np.testing.assert_allclose(of(0)[:4], n * np.pi / length * np.sqrt(3.0 / 1.3), rtol=1e-10)
    np.testing.assert_allclose(of(3)[:4], n * np.pi / length * np.sqrt(0.2 / 0.6), rtol=1e-10)
    for places, data in (((1, 5), (1.1, 0.7, 0.35)), ((2, 4), (0.9, 0.5, 0.25))):
        for omega in of(*places)[:4]:
            near = [clamped_determinant(omega * (1.0 + e), length, *data) for e in (-1e-6, 1e-6)]
            assert near[0] * near[1] < 0.0
            root = brentq(clamped_determinant, omega * (1 - 1e-6), omega * (1 + 1e-6), args=(length, *data))
            assert omega == pytest.approx(root, rel=1e-9)


def test_spectrum_of_a_free_rod():
    squares, parts = ROD.spectrum(4.0, ("free", "free"))
    assert np.count_nonzero(np.abs(squares) < 1e-8) == 6
    stretched = np.sqrt(squares[6:][parts[6:, 0] > 0.999])
    np.testing.assert_allclose(stretched[:3], np.arange(1, 4) * np.pi / 4.0 * np.sqrt(3.0 / 1.3), rtol=1e-9)


@pytest.mark.parametrize("ends", [("clamped", "clamped"), ("clamped", "free"), "free", "periodic"])
def test_chains_converge_to_their_rod(ends):
    """With the square of the number of bodies, all kinds of modes; a wrong rod does not."""
    compared = cosserat_comparison(lambda n: pt.library.disc_rod(n, ends=ends), counts=(16, 32))
    assert np.max(np.abs(compared.differences[-1])) < 6e-3
    np.testing.assert_allclose(compared.rates, -2.0, atol=0.2)
    kinds = {"wave"} if ends == "periodic" else {"extension", "torsion", "bending"}
    assert set(compared.kinds) == kinds
    stiffer = compared.chain / (1.02 * compared.rod) - 1.0
    assert np.min(np.abs(stiffer[-1])) > 1e-2
    assert f"{compared.rod[-1, 0]:.8g}" in str(compared)


def test_extension_of_a_clamped_chain_is_exact():
    r"""Differences of extension and torsion are those of $\sin(x)/x$ with $x = n\pi/2N$."""
    compared = cosserat_comparison(pt.library.disc_rod, counts=(8, 16))
    for row, bodies in enumerate((8, 16)):
        x = np.pi / (2.0 * (bodies - 1))
        for kind in ("extension", "torsion"):
            first = compared.differences[row, compared.kinds.index(kind)]
            assert first == pytest.approx(np.sin(x) / x - 1.0, rel=1e-6)


def test_what_has_no_rod_is_refused(spacing):
    """Unstable against shear; pressed together; not enough chains; ends that no rod has."""
    with pytest.raises(pt.InputError, match="no minimum"):
        cosserat_comparison(
            lambda n: pt.Chain(BODY, n, spacing, BONDS, "clamped", neighbours=2), counts=(5, 6)
        )
    with pytest.raises(pt.InputError, match="under stress"):
        cosserat_rod(pt.Chain(BODY, 6, 0.9 * spacing, BONDS, "free", neighbours=2))
    with pytest.raises(pt.InputError, match="two chains or more"):
        cosserat_comparison(pt.library.disc_rod, counts=(8,))
    with pytest.raises(pt.InputError, match="ends of a disc_rod"):
        pt.library.disc_rod(ends=("clamped", "ring"))


def test_picture_of_the_comparison():
    compared = cosserat_comparison(pt.library.disc_rod, counts=(6, 12), count=4)
    left, right = compared.plot().get_axes()
    curves = [line for line in left.get_lines() if line.get_linestyle() == "-"]
    np.testing.assert_allclose(
        [np.asarray(line.get_ydata()) for line in curves], np.abs(compared.differences.T)
    )
    assert len(right.get_lines()) == 12
    pyplot.close("all")
