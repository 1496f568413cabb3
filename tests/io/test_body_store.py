"""Runs of bodies on disk: the whole motion comes back bit for bit, with names on its dimensions."""

import json

import numpy as np
import pytest

import poinsot as pt
from poinsot.io import load, save

TIMES = 50
SHAPES = {
    "position": (2, 3),
    "rotation": (2, 3, 3),
    "quaternion": (2, 4),
    "velocity": (2, 3),
    "angular_velocity": (2, 3),
    "energy": (),
    "linear_momentum": (3,),
    "angular_momentum": (3,),
    "constraint": (2, 1),
    "constraint_rate": (2, 1),
    "multipliers": (2, 1),
    "work": (),
}


@pytest.fixture
def run():
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 1.0, TIMES)
    motion = {name: rng.normal(size=(TIMES, *shape)) for name, shape in SHAPES.items()}
    components = {"q": rng.normal(size=(TIMES, 14)), "p": rng.normal(size=(TIMES, 14))}
    conserved = {
        "energy less work done": rng.normal(size=TIMES),
        "L_z": rng.normal(size=TIMES),
        "constraint": rng.normal(size=(TIMES, 2)),
        "body": rng.normal(size=TIMES),
    }
    about = {"bodies": ["rotor", "Kreisel ü"], "form": "index3", "loads": True, "dt": 0.02}
    return pt.BodyTrajectory(None, t, components, conserved, pt.Result.successful, about, motion)


def _bits(arrays):
    return [(name, array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()]


def _assert_equal(a, b):
    assert type(a) is type(b)
    assert a.t.tobytes() == b.t.tobytes()
    for part in ("components", "conserved", "motion"):
        assert _bits(getattr(a, part)) == _bits(getattr(b, part))
    assert (a.result, a.attributes) == (b.result, b.attributes)


def test_a_run_of_bodies_is_read_back_bit_for_bit(run, tmp_path):
    run.save(tmp_path / "run.zarr")
    loaded = pt.load(tmp_path / "run.zarr")
    _assert_equal(loaded, run)
    np.testing.assert_array_equal(loaded.energy, run.motion["energy"])
    np.testing.assert_array_equal(loaded.final.quaternion, run.motion["quaternion"][-1])
    run.motion["quaternion"][3, 1, 2] *= 1.0 + 2.0**-52
    with pytest.raises(AssertionError):
        _assert_equal(loaded, run)


def test_coordinates_without_constraints_leave_empty_arrays(run, tmp_path):
    for name in ("constraint", "constraint_rate", "multipliers"):
        run.motion[name] = np.zeros((TIMES, 2, 0))
    save(run, tmp_path / "run.zarr")
    _assert_equal(load(tmp_path / "run.zarr"), run)


def test_dimensions_have_names(run, tmp_path):
    save(run, tmp_path / "run.zarr")
    for dataset in (run.dataset, load(tmp_path / "run.zarr").dataset):
        assert dataset["rotation"].dims == ("time", "body", "row", "column")
        assert dataset["angular_momentum"].dims == ("time", "axis")
        assert dataset["multipliers"].dims == ("time", "body", "multiplier")
        assert dataset["energy"].dims == dataset["work"].dims == ("time",)
        height = dataset["position"].sel(body="Kreisel ü", axis="z")
        np.testing.assert_array_equal(height, run.position[:, 1, 2])
        np.testing.assert_array_equal(
            dataset["quaternion"].sel(body="rotor", part="w"), run.quaternion[:, 0, 0]
        )


def test_conserved_quantities_stand_beside_the_motion(run):
    dataset = run.dataset
    np.testing.assert_array_equal(dataset["constraint"], run.motion["constraint"])
    np.testing.assert_array_equal(dataset["conserved constraint"], run.conserved["constraint"])
    np.testing.assert_array_equal(dataset["conserved body"], run.conserved["body"])
    np.testing.assert_array_equal(dataset["L_z"], run.conserved["L_z"])


def test_stores_of_the_first_layout_still_load(run, tmp_path):
    plain = pt.Trajectory(None, run.t, run.components, run.conserved, run.result, {"note": "old"})
    save(plain, tmp_path / "old.zarr")
    header = tmp_path / "old.zarr" / "zarr.json"
    content = json.loads(header.read_text())
    content["attributes"]["poinsot_format"] = 1
    header.write_text(json.dumps(content))
    loaded = load(tmp_path / "old.zarr")
    assert type(loaded) is pt.Trajectory
    assert _bits(loaded.components) == _bits(run.components)
