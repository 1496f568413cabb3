"""A kind of joint of one's own: registered, measured like those of the package, and used in a file."""

import copy
from pathlib import Path
from typing import Any, ClassVar, Unpack

import jax.numpy as jnp
import numpy as np
import pytest
import test_joint_gradients
import test_joint_kinds

import poinsot as pt
from deviations import deviation
from poinsot.io import load_scenario
from poinsot.model.joints._motion import X, Z

J = pt.joints


def recipe() -> Any:
    """The class in CONTRIBUTING.md, with the imports of a file beside the others."""
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = text.split("## Add a joint")[1].split("```python\n")[1].split("```")[0]
    names = {name: getattr(J, name) for name in J.__all__}
    names |= {"ClassVar": ClassVar, "Unpack": Unpack, "jnp": jnp, "X": X, "Z": Z, "__name__": __name__}
    exec(code, names)
    return names["PinInSlot"]


PinInSlot = recipe()


class TurnsAside(PinInSlot):
    """The same with a wrong motion subspace."""

    def subspace(self, frames):
        return J.Subspace.of((None, frames.first[:, 2]), (frames.first[:, 1], None))


@pytest.fixture
def registered(monkeypatch):
    """What a test registers is known to it alone; the contract tests make their joints of the registry."""
    monkeypatch.setattr(J.REGISTRY, "_entries", dict(J.REGISTRY))
    monkeypatch.setattr(test_joint_kinds, "KINDS", copy.copy(test_joint_kinds.KINDS))

    def registered(name: str, kind: Any) -> str:
        pt.register("joint", name, kind)
        joint = test_joint_kinds.made(J.REGISTRY[name])
        test_joint_kinds.KINDS[kind.__name__] = (joint, 6 - joint.rows)
        return kind.__name__

    return registered


FILE = """
[[bodies]]
name = "bar"
mass = 1.0
inertia = [0.1, 0.2, 0.3]
start = { angular_velocity = [2.0, 0.0, 0.0], velocity = [0.0, 0.0, 0.5] }

[[joints]]
kind = "pin-in-slot"
name = "slot"
first = "ground"
second = "bar"
at = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]

[coordinates]
name = "group"

[integrator]
name = "lie-rattle"

[run]
t1 = 1.0
dt = 0.01
"""


def test_it_is_known_to_files(registered, tmp_path):
    registered("pin-in-slot", PinInSlot)
    (tmp_path / "case.toml").write_text(FILE)
    run: Any = load_scenario(tmp_path / "case.toml").run(progress=False)
    slot = run.joint("slot")
    np.testing.assert_allclose([slot.position[-1], slot.angle[-1]], [0.5, 2.0], rtol=1e-12)
    assert deviation(run, "joints") < 1e-14


@pytest.mark.slow
def test_it_is_measured_like_all_joints(registered):
    name = registered("pin-in-slot", PinInSlot)
    test_joint_kinds.test_rates_bends_and_rank(name)
    test_joint_kinds.test_the_null_space_of_a_joint_that_can_stand_in_a_tree(name)
    test_joint_kinds.test_a_joint_is_placed_where_its_coordinates_say_and_moves_along_its_subspace(name)
    test_joint_kinds.test_a_run_holds_it(name)
    test_joint_gradients.check(test_joint_kinds.system(name))


@pytest.mark.slow
def test_a_wrong_null_space_is_seen(registered):
    name = registered("turns-aside", TurnsAside)
    test_joint_kinds.test_rates_bends_and_rank(name)
    with pytest.raises(AssertionError):
        test_joint_kinds.test_the_null_space_of_a_joint_that_can_stand_in_a_tree(name)
    with pytest.raises(AssertionError):
        test_joint_kinds.test_a_joint_is_placed_where_its_coordinates_say_and_moves_along_its_subspace(name)
