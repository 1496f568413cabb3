"""Write what MuJoCo finds of the machine in tests/io/robots/lander.xml, as a program.

Needs `mujoco`, which no test needs: the numbers are stored beside the machine.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np

mujoco: Any = importlib.import_module("mujoco")

MACHINE = Path(__file__).parents[1] / "io" / "robots" / "lander.xml"


def main() -> None:
    model = mujoco.MjModel.from_xml_path(str(MACHINE))
    data = mujoco.MjData(model)
    draw = np.random.default_rng(5)
    data.qpos[:] = draw.uniform(-0.5, 0.5, model.nq)
    free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
    for kind, at in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if int(kind) in (free, ball):
            quat = draw.standard_normal(4)
            begin = at + 3 * (int(kind) == free)
            data.qpos[begin : begin + 4] = quat / np.linalg.norm(quat)
    data.qvel[:] = draw.uniform(-1.0, 1.0, model.nv)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    mujoco.mj_forward(model, data)
    metric = np.zeros((model.nv, model.nv))
    for row, unit in zip(metric, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    names = [model.body(k).name for k in range(1, model.nbody)]
    found = {
        "mujoco": mujoco.__version__,
        "joints": [model.joint(k).name for k in range(model.njnt)],
        "qpos": data.qpos, "qvel": data.qvel, "metric": metric, "bias": data.qfrc_bias,
        "passive": data.qfrc_passive,
        "places": {name: data.body(name).xpos for name in names},
        "rotations": {name: data.body(name).xmat for name in names},
        "masses": {name: float(model.body(name).mass[0]) for name in names},
    }  # fmt: skip
    text = json.dumps(found, default=lambda one: np.asarray(one).tolist(), indent=1)
    MACHINE.with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
