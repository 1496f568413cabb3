"""Other packages on the chain of `open_chain.py`: measured where they are installed, else as they were once.

Run as a program by a Python that has MuJoCo, it prints what it measures as JSON; `open_chain.py` does that
with the Python named in the environment variable MUJOCO_PYTHON.
"""

import json
import time
from functools import partial

import numpy as np

SIZES = (2, 7, 30, 100)
STORED = {
    "Pinocchio 4.1 aba": (0.95, 2.6, 9.6, 31.0),
    "MuJoCo 4.0 mj_forward": (1.4, 2.1, 7.2, 53.0),
    "MuJoCo 4.0 mj_step RK4": (4.7, 7.8, 28.0, 215.0),
    "MuJoCo 4.0 rollout, 2 threads": (0.68, 1.07, 3.7, 28.6),
    "Drake EvalTimeDerivatives": (7.3, 12.5, 37.0, 106.0),
}
"""Microseconds of a call, a step, a state and step, at the sizes; measured once on a 2-core machine."""
COM, INERTIA = (0.5, 0.0, 0.0), (0.1, 0.2, 0.3)


def state(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The angles and rates that all packages take."""
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)


def microseconds(function, calls: int) -> float:
    """Of one call: the least of seven batches of calls."""
    best = np.inf
    for _ in range(7):
        tick = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - tick) / calls)
    return 1e6 * best


def pinocchio_chain(n: int):
    """Model, data and acceleration at the state."""
    import pinocchio as pin

    model, joint = pin.Model(), 0
    for k in range(n):
        kind = pin.JointModelRZ() if k % 2 == 0 else pin.JointModelRY()
        place = pin.SE3(np.eye(3), np.array([1.0 if k else 0.0, 0.0, 0.0]))
        joint = model.addJoint(joint, kind, place, f"j{k}")
        model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array(COM), np.diag(INERTIA)), pin.SE3.Identity())
    data = model.createData()
    q, v = state(n)
    return lambda: pin.aba(model, data, q, v, np.zeros(n))


def mujoco_text(n: int) -> str:
    """The chain in MuJoCo's format."""
    inner = ""
    for k in range(n):
        axis = "0 0 1" if k % 2 == 0 else "0 1 0"
        inner += f'<body pos="{1 if k else 0} 0 0"><joint type="hinge" axis="{axis}"/>'
        inner += '<inertial pos="0.5 0 0" mass="1" diaginertia="0.1 0.2 0.3"/>'
    option = '<option gravity="0 0 -9.81" timestep="0.001" integrator="RK4"/>'
    return f"<mujoco>{option}<worldbody>{inner}{'</body>' * n}</worldbody></mujoco>"


def mujoco_times(threads: int = 2) -> dict[str, list[float]]:
    """Microseconds of `mj_forward`, of a step of RK4, and of a state and Euler step in `rollout`."""
    import mujoco as mj
    import mujoco.rollout

    names = [f"MuJoCo {mj.__version__} {what}" for what in ("mj_forward", "mj_step RK4")]
    names.append(f"MuJoCo {mj.__version__} rollout, {threads} threads")
    found: dict[str, list[float]] = {name: [] for name in names}
    for n in SIZES:
        model = mj.MjModel.from_xml_string(mujoco_text(n))
        model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONSTRAINT | mj.mjtDisableBit.mjDSBL_CONTACT
        data = mj.MjData(model)
        q, v = state(n)
        data.qpos[:], data.qvel[:] = q, v
        found[names[0]].append(microseconds(lambda m=model, d=data: mj.mj_forward(m, d), 2000 // n))
        steps = 2000 // n

        def march(model=model, data=data, steps=steps, q=q, v=v):
            data.qpos[:], data.qvel[:] = q, v
            mj.mj_step(model, data, steps)

        found[names[1]].append(microseconds(march, 1) / steps)
        model.opt.integrator = mj.mjtIntegrator.mjINT_EULER
        count, steps = 4096, max(2, 100 // n)
        starts = np.zeros((count, mj.mj_stateSize(model, mj.mjtState.mjSTATE_FULLPHYSICS)))
        starts[:, 1 : 1 + 2 * n] = np.random.default_rng(1).uniform(-1, 1, (count, 2 * n))
        datas = [mj.MjData(model) for _ in range(threads)]
        with mujoco.rollout.Rollout(nthread=threads) as roll:
            whole = microseconds(partial(roll.rollout, model, datas, starts, nstep=steps), 1)
        found[names[2]].append(whole / (count * steps))
    return found


if __name__ == "__main__":
    print(json.dumps(mujoco_times()))
