"""The unit norm of quaternions: an invariant of one canonical form, a matter of accuracy in the other."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import RoundoffGrowth
from poinsot.analysis._body_standard import standard_body, standard_start
from poinsot.analysis._travel import travel
from poinsot.coordinates import Quaternions
from poinsot.integrators import RK4, GaussLegendre, SunGeng5

EPS = 2.0**-52
STEPS = {1: 0.02, 3: 0.05, 5: 0.1}
"""Step for each number of stages."""
METHODS = {6: GaussLegendre(3), 5: SunGeng5(), 2: GaussLegendre(1)}
"""Methods by the order of the constraint in the form with a multiplier."""
each_stages = pytest.mark.parametrize("stages", STEPS)


@cache
def formulation(I0: float | None = None):
    """The standard body in the homogeneous form, or in the thesis' form with a radial inertia."""
    return pt.formulate(standard_body(), Quaternions(I0=I0), "hamiltonian").watched(standard_start())


def norm_error(method, h: float, steps: int, I0: float | None = None) -> float:
    """Largest error of the squared norm along one run."""
    of = formulation(I0)
    run = travel(of.problem, method, of.problem.pack(of.start(standard_start())), h, steps)
    assert run.ok
    return 2.0 * float(run.deviation["constraint"][0])


@pytest.mark.parametrize("stages", [3, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 5))])
def test_gauss_keeps_the_unit_norm_for_a_hundred_thousand_steps(stages):
    assert norm_error(GaussLegendre(stages), STEPS[stages], 100_000) < 1e-13


def test_a_method_that_is_not_symplectic_loses_the_unit_norm():
    assert norm_error(RK4(), 0.05, 10_000) > 1e-8


def growth(of, starts, method, h: float, steps: int = 100_000) -> RoundoffGrowth:
    """Errors of the squared norm of several motions."""
    samples = 50
    stride = steps // samples
    runs = pt.ensemble(
        of.problem,
        method,
        jax.tree.map(lambda *parts: jnp.stack(parts), *map(of.start, starts)),
        dt=h,
        steps=steps,
        save_every=stride,
        progress=False,
    )
    assert np.all(np.asarray(runs.result) == 0)
    squares = np.sum(np.asarray(runs.state.q) ** 2, axis=-1)
    return RoundoffGrowth(stride * np.arange(1, samples + 1), squares[:, 1:] - squares[:, :1])


def starts_of(system, spin):
    """Sixteen starts, with angular velocities `spin(k)`."""
    return [
        system.state(
            rotation=pt.rotation.euler("zxz", (0.3 * k, 0.6 + 0.05 * k, 0.1)), angular_velocity=spin(k)
        )
        for k in range(16)
    ]


def check_random_walk(of: RoundoffGrowth) -> None:
    """Never above the walk of one unit of round-off a step; the exponent is that of a walk.

    The exponent of sixteen random walks scatters by 0.08 around 1/2.
    """
    assert np.all(of.rms < EPS * np.sqrt(of.steps))
    assert 0.2 < of.exponent < 0.8


@pytest.mark.slow
@each_stages
def test_round_off_in_the_unit_norm_grows_like_a_random_walk(stages):
    starts = starts_of(standard_body(), lambda k: (0.7 + 0.01 * k, -0.5, 1.1))
    check_random_walk(growth(formulation(), starts, GaussLegendre(stages), STEPS[stages]))


@pytest.mark.slow
def test_fast_rotation_needs_coefficients_beyond_double_precision():
    """Rounded coefficients break the condition of symplecticity always alike, and the norm drifts.

    The faster the rotation in a step, the more: on the standard body rounding itself is larger. Coefficients
    in two doubles take the drift of 0.0035 units of round-off a step down to 0.0006 in strict arithmetic, and
    to nothing that is seen beside rounding where products and sums are contracted.
    """
    top = pt.library.gyro_top()
    of = pt.formulate(top, Quaternions(), "hamiltonian")
    starts = starts_of(top, lambda k: (0.1 * k, -0.5, 20.0 + 0.1 * k))
    methods = (GaussLegendre(3, compensated=True), GaussLegendre(3))
    with_care, without = (growth(of, starts, method, 0.02) for method in methods)
    assert with_care.rms[-1] < 0.001 * EPS * with_care.steps[-1]
    assert without.rms[-1] > 4.0 * with_care.rms[-1] and without.exponent > 0.8


@pytest.mark.parametrize("order", METHODS)
def test_the_form_with_a_multiplier_keeps_the_norm_to_the_order_of_the_method(order):
    """Not to second order only, whatever the method: 6, 5 and 2, and far above round-off."""
    steps = np.array([20, 40, 80])
    errors = np.array([norm_error(METHODS[order], 4.0 / n, n, I0=1.0) for n in steps])
    assert errors[-1] > 1e3 * EPS
    slopes = np.log2(errors[:-1] / errors[1:])
    assert slopes[-1] == pytest.approx(order, abs=0.3)


@cache
def sleeping_top(mgl: float):
    """A top that spins upright; it hangs where `mgl` is negative."""
    return pt.library.heavy_top(inertia=(1.0, 1.0, 0.6), mgl=mgl)


def norm_after(mgl: float, I0: float | None, t1: float) -> float:
    """Error of the squared norm at time `t1`, in units of its error at the start."""
    system = sleeping_top(mgl)
    start = system.state(angular_velocity=(0.0, 0.0, 4.0))
    of = pt.formulate(system, Quaternions(I0=I0), "hamiltonian")
    stretch = 1e-7
    y = of.problem.pack(of.start(start))
    y = y.at[:4].multiply(1.0 + stretch)
    end = travel(of.problem, GaussLegendre(4), y, t1 / 200, 200)
    assert end.ok
    first, last = (float(jnp.sum(z[:4] ** 2)) - 1.0 for z in (y, end.y))
    return last / first


@pytest.mark.parametrize("I0", [1.0, pytest.param(0.5, marks=pytest.mark.slow)])
def test_growth_rate_where_the_form_with_a_multiplier_is_unstable(I0):
    r"""The norm obeys $\ddot e = (q \cdot V_q)\,e / (2 I_0)$; an upright top has $q \cdot V_q = 2 m g l$."""
    mgl, t1 = 2.0, 2.5
    rate = np.sqrt(mgl / I0)
    assert norm_after(mgl, I0, t1) == pytest.approx(np.cosh(rate * t1), rel=1e-4)
    assert norm_after(-mgl, I0, t1) == pytest.approx(np.cos(rate * t1), abs=1e-4)


def test_the_homogeneous_form_leaves_a_wrong_norm_as_it_is():
    assert norm_after(2.0, None, 2.5) == pytest.approx(1.0, abs=1e-6)
