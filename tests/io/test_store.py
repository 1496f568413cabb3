"""Saving and loading: equal bit for bit, and nothing lost on the way."""

import importlib
import importlib.util
import json
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.io import load, save, to_dataset


def _kepler():
    return pt.Hamiltonian(
        T=lambda p: 0.5 * p @ p,
        V=lambda q: -1.0 / jnp.sqrt(q @ q),
        invariants={
            "z axis/moment": lambda q, p: q[0] * p[1] - q[1] * p[0],
            "q": lambda q, p: jnp.stack([p[1], -p[0]]) * (q[0] * p[1] - q[1] * p[0]) - q / jnp.sqrt(q @ q),
            "Länge": lambda q, p: -0.0 * q[0],
        },
    )


@pytest.fixture(scope="module")
def run():
    trajectory = pt.simulate(
        _kepler(), pt.State(q=[0.4, 0.0], p=[0.0, 2.0]), t1=20.0, dt=0.05, integrator=pt.integrators.RK4()
    )
    trajectory.attributes["scenario"] = {
        "system": "kepler",
        "state": [0.1, 1e-300, 1 / 3],
        "note": None,
        "on": True,
    }
    return trajectory


def _bits(array):
    return array.dtype, array.shape, array.tobytes()


def _assert_equal(a, b):
    assert _bits(a.t) == _bits(b.t)
    for first, second in ((a.components, b.components), (a.conserved, b.conserved)):
        assert list(first) == list(second)
        assert {k: _bits(v) for k, v in first.items()} == {k: _bits(v) for k, v in second.items()}
    assert a.result is b.result
    assert a.attributes == b.attributes


def test_a_stored_run_is_read_back_bit_for_bit(run, tmp_path):
    run.save(tmp_path / "run.zarr")
    loaded = pt.load(tmp_path / "run.zarr")
    _assert_equal(loaded, run)
    assert loaded.problem is None
    assert str(loaded.report()) == str(run.report())
    np.testing.assert_array_equal(loaded.final.q, run.final.q)


@pytest.mark.parametrize("value", [-0.0, 0.0, np.nan, np.inf, -np.inf, 5e-324])
def test_arrays_of_one_odd_number_survive(run, tmp_path, value):
    odd = pt.Trajectory(None, run.t, {"y": np.full((len(run.t), 3), value)}, {}, pt.Result.successful, {})
    save(odd, tmp_path / "odd.zarr")
    _assert_equal(load(tmp_path / "odd.zarr"), odd)


def test_many_chunks_and_batches(run, tmp_path, monkeypatch):
    monkeypatch.setattr("poinsot.io._store.CHUNK", 100)
    rng = np.random.default_rng(0)
    shape = (len(run.t), 2, 3)
    state = {"q": rng.normal(size=shape), "p": rng.normal(size=shape)}
    energies = {"energy": rng.normal(size=(len(run.t), 3))}
    batch = pt.Trajectory(None, run.t, state, energies, pt.Result.interrupted, {"steps": 3})
    save(batch, tmp_path / "batch.zarr")
    _assert_equal(load(tmp_path / "batch.zarr"), batch)
    assert len(list((tmp_path / "batch.zarr" / "q" / "c").iterdir())) > 5


def test_a_failed_run_keeps_its_result(tmp_path):
    escape = pt.ODE(lambda y: y**2)
    failed = pt.simulate(
        escape, pt.State(y=[1.0]), t1=4.0, dt=0.25, integrator=pt.integrators.ImplicitEuler(), throw=False
    )
    assert not failed.result.ok
    failed.save(tmp_path / "failed.zarr")
    loaded = pt.load(tmp_path / "failed.zarr")
    _assert_equal(loaded, failed)
    assert loaded.message == failed.message


def test_dataset_names_its_dimensions(run):
    dataset = run.dataset
    assert dataset["q"].dims == ("time", "component") == dataset["p"].dims
    assert dataset["energy"].dims == ("time",)
    assert dataset.attrs["dt"] == 0.05 and dataset.attrs["version"] == pt.__version__
    np.testing.assert_array_equal(dataset["time"], run.t)
    kinetic = 0.5 * (dataset["p"] ** 2).sum("component")
    np.testing.assert_allclose(kinetic, 0.5 * np.sum(run.p**2, axis=1), rtol=1e-15)
    named = {v.attrs["long_name"] for v in dataset.data_vars.values() if v.attrs["role"] == "conserved"}
    assert named == set(run.conserved)


def test_saving_again_replaces_the_store_and_leaves_no_litter(run, tmp_path):
    target = tmp_path / "deep" / "run.zarr"
    save(run, target)
    shorter = pt.Trajectory(None, run.t[:5], {"y": run.q[:5]}, {}, pt.Result.successful, {"note": "second"})
    save(shorter, target)
    _assert_equal(load(target), shorter)
    assert [entry.name for entry in target.parent.iterdir()] == ["run.zarr"]


@pytest.mark.parametrize("moment", ["while writing", "while renaming"])
def test_an_interrupted_save_keeps_the_old_store(run, tmp_path, monkeypatch, moment):
    import pathlib

    import xarray

    target = tmp_path / "run.zarr"
    save(run, target)
    other = pt.Trajectory(None, run.t[:5], {"y": run.q[:5]}, {}, pt.Result.successful, {})
    rename = pathlib.Path.rename

    def interrupted_write(self, store, **options):
        pathlib.Path(store).mkdir()
        raise KeyboardInterrupt

    def interrupted_rename(self, goal):
        if self.name == "new":
            raise KeyboardInterrupt
        return rename(self, goal)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        if moment == "while writing":
            patch.setattr(xarray.Dataset, "to_zarr", interrupted_write)
        else:
            patch.setattr(pathlib.Path, "rename", interrupted_rename)
        save(other, target)
    _assert_equal(load(target), run)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.zarr"]


def test_what_is_not_a_stored_trajectory_is_never_overwritten(run, tmp_path):
    import zarr

    file, folder, foreign = tmp_path / "notes.txt", tmp_path / "folder", tmp_path / "foreign.zarr"
    file.write_text("precious")
    folder.mkdir()
    (folder / "data").write_text("precious")
    zarr.create_group(foreign)
    for target in (file, folder, foreign):
        with pytest.raises(pt.InputError, match="not a stored trajectory"):
            save(run, target)
    assert file.read_text() == (folder / "data").read_text() == "precious"
    assert (foreign / "zarr.json").exists()


def test_loading_what_is_not_there_is_one_line(run, tmp_path):
    (tmp_path / "file").write_text("{}")
    newer, damaged = tmp_path / "newer.zarr", tmp_path / "damaged.zarr"
    for target in (newer, damaged):
        save(run, target)
    header = json.loads((newer / "zarr.json").read_text())
    header["attributes"]["poinsot_format"] = 99
    (newer / "zarr.json").write_text(json.dumps(header))
    (damaged / "q" / "zarr.json").write_text("{")
    cases = {
        "nowhere": "does not exist",
        "file": "not a stored",
        "newer.zarr": "layout 99",
        "damaged.zarr": "damaged",
    }
    for name, reason in cases.items():
        with pytest.raises(pt.InputError, match=reason) as caught:
            load(tmp_path / name)
        assert name in str(caught.value) and "\n" not in str(caught.value)


def test_attributes_that_json_cannot_hold_are_refused_by_name(run, tmp_path):
    bad = pt.Trajectory(None, run.t, {"y": run.q}, {}, pt.Result.successful, {"scenario": {"f": abs}})
    with pytest.raises(pt.InputError, match=r"scenario\.f.*builtin_function"):
        save(bad, tmp_path / "bad.zarr")
    assert not (tmp_path / "bad.zarr").exists()


@pytest.mark.parametrize("package", ["xarray", "zarr"])
def test_a_missing_package_names_the_extra(run, tmp_path, monkeypatch, package):
    save(run, tmp_path / "run.zarr")
    real = importlib.import_module

    def without(name, *rest):
        if name == package:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *rest)

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib, "import_module", without)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else found(name))
    for act in (lambda: save(run, tmp_path / "other.zarr"), lambda: load(tmp_path / "run.zarr")):
        with pytest.raises(pt.InputError, match=rf"{package}.*pip install 'poinsot\[data\]'") as caught:
            act()
        assert isinstance(caught.value, ImportError)


def test_importing_and_running_needs_no_xarray():
    code = (
        "import sys, poinsot.io, poinsot.simulation, poinsot.viz;"
        "print([name for name in ('xarray', 'zarr', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_to_dataset_is_what_dataset_gives(run):
    one, other = to_dataset(run), run.dataset
    # The time that evaluating takes is among the attributes, and grows.
    for dataset in (one, other):
        assert dataset.attrs.pop("seconds")
    assert one.identical(other)
