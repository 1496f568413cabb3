"""The chain of six joints of the reproduction of Zoric et al. beside Pinocchio."""

from typing import Any

import numpy as np
import pytest

from poinsot.model import OpenChain
from poinsot.papers.zoric2010 import _six_joints as six
from poinsot.papers.zoric2010._quantities import EQUATIONS, _both, quantities

pin: Any = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ours():
    return {
        name: np.asarray(value)
        for name, value in _both(OpenChain(six.system()), six.Q, six.V, six.A, six.TAU)[0].items()
    }


def model():
    """The chain in Pinocchio, all frames parallel where the coordinates vanish."""
    masses, points = six.particles()
    made, joint, place = pin.Model(), 0, np.zeros(3)
    made.gravity = pin.Motion(np.array(six.GRAVITY), np.zeros(3))
    for i, kind in enumerate(six.KINDS):
        one = pin.JointModelRevoluteUnaligned if kind == "R" else pin.JointModelPrismaticUnaligned
        joint = made.addJoint(joint, one(six.AXES[i]), pin.SE3(np.eye(3), place), f"q{i}")
        centre = masses[i] @ points[i] / np.sum(masses[i])
        arms = points[i] - centre
        planar = np.einsum("p,pk,pl->kl", masses[i], arms, arms)
        inertia = pin.Inertia(float(np.sum(masses[i])), centre, np.trace(planar) * np.eye(3) - planar)
        made.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        made.addFrame(pin.Frame(f"C{i}", joint, 0, pin.SE3(np.eye(3), centre), pin.FrameType.OP_FRAME))
        place = six.STRETCHES[i]
    return made


def by_pinocchio() -> dict[str, np.ndarray]:
    made = model()
    data, aligned = made.createData(), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    upper = np.triu(pin.crba(made, data, six.Q))
    gravity = pin.computeGeneralizedGravity(made, data, six.Q).copy()
    forces = pin.rnea(made, data, six.Q, six.V, six.A).copy()
    quadratic = pin.rnea(made, data, six.Q, six.V, 0.0 * six.V) - gravity
    accelerations = pin.aba(made, data, six.Q, six.V, six.TAU).copy()
    pin.forwardKinematics(made, data, six.Q, six.V, six.A)
    pin.computeJointJacobians(made, data, six.Q)
    pin.updateFramePlacements(made, data)
    places = [made.getFrameId(f"C{i}") for i in range(len(six.KINDS))]
    columns = np.stack([pin.getFrameJacobian(made, data, place, aligned) for place in places])
    speeds = np.stack([pin.getFrameVelocity(made, data, place, aligned).vector for place in places])
    rates = [pin.getFrameClassicalAcceleration(made, data, place, aligned).vector for place in places]
    return {
        "R(p_0,i)": np.stack([data.oMf[place].rotation for place in places]),
        "r_i": np.stack([data.oMf[place].translation for place in places]),
        "T_a(i)": np.moveaxis(columns[:, :3], 2, 0),
        "Omega_a(i)": np.moveaxis(columns[:, 3:], 2, 0),
        "V_i": speeds[:, :3],
        "omega_i": speeds[:, 3:],
        "a_i": np.stack(rates)[:, :3],
        "a_ab": upper + np.triu(upper, 1).T,
        "E_k": np.asarray(pin.computeKineticEnergy(made, data, six.Q, six.V)),
        "Q_c": -gravity,
        "quadratic": quadratic,
        "forces of the covariant equations": forces,
        "accelerations of the covariant equations": accelerations,
    }


def test_every_quantity_is_that_of_pinocchio(ours):
    ours = ours | {"quadratic": np.einsum("abc,a,b->c", ours["Gamma_ab,c"], six.V, six.V)}
    for name, value in by_pinocchio().items():
        scale = np.max(np.abs(value))
        assert scale > 0.1, name
        np.testing.assert_allclose(ours[name], value, rtol=0, atol=1e-13 * scale, err_msg=name)


def test_axes_are_those_of_the_columns(ours):
    """Along which a joint turns its body, or slides it."""
    for joint, kind in enumerate(six.KINDS):
        columns = ours["Omega_a(i)" if kind == "R" else "T_a(i)"]
        np.testing.assert_allclose(ours["e_a"][joint], columns[joint, joint], atol=1e-14)


def test_a_wrong_quantity_is_found(monkeypatch, ours):
    """The item judges every quantity: each one that is off by 1e-9 makes it disagree."""
    from poinsot.papers.zoric2010 import _quantities

    right = {name: ours[name] for name in EQUATIONS}
    for name in EQUATIONS:
        wrong = ours | {name: ours[name] * (1.0 + 1e-9)}
        monkeypatch.setattr(_quantities, "_both", lambda *_, wrong=wrong: (wrong, right))
        failing = [number for number in quantities(True, False).numbers if number.agrees is False]
        assert len(failing) >= 2 and all(name in number.name or "less" in number.name for number in failing)
