"""Runs that a controller breaks: it is named, with the joints, and what was computed is kept."""

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt


@cache
def chain() -> pt.OpenChain:
    return pt.OpenChain(pt.library.two_link_arm())


def late(t, q, v):
    """Pushes that are no numbers after a tenth of a second."""
    return jnp.stack([jnp.where(t > 0.1, jnp.nan, -1.0), -v[1]])


def near(q, v):
    """A law that the motion leaves the domain of."""
    return jnp.stack([-v[0], jnp.sqrt(0.05 - q[1])])


def run(law: Any, **choices: Any) -> Any:
    given = {"coordinates": "joint", "form": "recursive", "integrator": "rk4", "dt": 0.01} | choices
    control = law if isinstance(law, pt.control.Sampled) else pt.control.Feedback(chain(), law)
    return pt.simulate(chain().system, chain().system.start, t1=0.5, control=control, progress=False, **given)


CASES: dict[str, Any] = {
    "rk4": (late, {}, "step 11, from t = 0.1: Feedback.* in 'shoulder'$"),
    "gauss4": (late, {"integrator": "gauss4", "form": None}, "step 11, .*: Feedback.* in 'shoulder'$"),
    "group": (late, {"coordinates": "group", "form": None}, "step 11, .*: Feedback.* in 'shoulder'$"),
    "adaptive": (late, {"integrator": "dormand-prince853", "dt": None}, "t = 0.1: Feedback.* in 'shoulder'$"),
    "domain": (near, {}, "Feedback asks for forces that are not finite in 'elbow'$"),
}


@pytest.mark.parametrize(
    "case", ["rk4", *(pytest.param(one, marks=pytest.mark.slow) for one in CASES if one != "rk4")]
)
def test_the_controller_is_named_and_the_run_kept(case):
    law, choices, said = CASES[case]
    with pytest.raises(pt.SimulationError, match=said) as caught:
        run(law, **choices)
    kept: Any = caught.value.trajectory
    assert kept.t[-1] > 0.05
    assert np.all(np.isfinite(kept.position)) and np.all(np.isfinite(kept.efforts()))
    assert np.all(np.isfinite(kept.energy - kept.work))


@pytest.mark.slow
def test_a_motion_that_runs_away_by_itself_is_not_put_down_to_the_controller():
    """A pull that grows without bound, beside a controller whose forces stay finite."""
    arm = chain().system.with_terms(loads=[pt.loads.JointDamper("elbow", -1e5, active=True)])
    law = pt.control.Feedback(chain(), lambda q, v: -jnp.tanh(v))
    start = arm.joint_state(rates={"elbow": 0.1})
    grid: Any = {"t1": 0.5, "dt": 0.01, "coordinates": "joint", "form": "recursive", "progress": False}
    with pytest.raises(pt.SimulationError, match="the state became infinite or NaN"):
        pt.simulate(arm, start, control=law, integrator="rk4", **grid)


@pytest.mark.slow
def test_a_sampled_controller_is_named():
    law = pt.control.Sampled(pt.control.Feedback(chain(), late), 0.05)
    with pytest.raises(pt.SimulationError, match="step 16, from t = 0.15: Sampled asks for .* 'shoulder'"):
        run(law)


def test_forces_that_are_not_finite_at_the_start_are_input():
    with pytest.raises(
        pt.InputError, match="Feedback asks for forces .* in 'elbow' at the start; start else"
    ):
        run(lambda q, v: jnp.stack([v[0], jnp.log(q[1] - 1.0)]))
