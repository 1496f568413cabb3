"""Exports read back by other programs: ASE for XYZ and LAMMPS dumps, HOOMD's package for GSD."""

from pathlib import Path
from typing import Any

import ase.io
import gsd.hoomd
import numpy as np
import pytest
from typer.testing import CliRunner

import poinsot as pt
from poinsot.cli import app
from poinsot.io import export
from poinsot.simulation import BodyTrajectory, Trajectory

pytestmark = pytest.mark.slow

STEPS, DT = 3, 2e-3
TEXT = {"xyz": "extxyz", "lammpstrj": "lammps-dump-text"}
"""Formats of text by suffix, as ASE calls them."""


def atoms(path: Path) -> list[Any]:
    """All frames of a text file, as ASE reads them."""
    return list(ase.io.read(path, ":", format=TEXT[path.suffix[1:]]))


def snapshots(path: Path) -> list[Any]:
    """All frames of a GSD file, as HOOMD's package reads them."""
    with gsd.hoomd.open(path) as file:
        return list(file)


@pytest.fixture(scope="module")
def periodic() -> BodyTrajectory:
    """Tetrahedra in a periodic chain that moves along itself, past the end of its period."""
    chain = pt.library.particle_chain(count=3, ends="periodic")
    straight = chain.straight_state(velocity_scale=0.2, seed=4)
    velocity = np.asarray(straight.velocity) + 1000.0 * np.eye(3)[0]
    start = chain.state(velocity=velocity, angular_velocity=straight.angular_velocity)
    run = pt.simulate(
        chain,
        start,
        t1=STEPS * DT,
        dt=DT,
        coordinates=pt.coordinates.Group(),
        integrator=pt.integrators.LieSplitting(),
    )
    assert isinstance(run, BodyTrajectory)
    return run


@pytest.fixture
def mixed() -> BodyTrajectory:
    """Two bodies, one of three particles and one of none, in any motion."""
    rng = np.random.default_rng(2)
    quaternion = rng.normal(size=(STEPS, 2, 4))
    quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    motion = {name: rng.normal(size=(STEPS, 2, 3)) for name in ("position", "velocity", "angular_velocity")}
    motion |= {"quaternion": quaternion, "rotation": np.asarray(pt.rotation.to_matrix(quaternion))}
    points = rng.normal(size=(3, 3))
    about = {
        "bodies": ["plate", "ball"],
        "particles": [points.tolist(), [[0.0, 0.0, 0.0]]],
        "particle_masses": [[1.0, 2.0, 3.0], [5.0]],
    }
    t = np.array([0.0, 0.1, 0.30000000000000004])
    return BodyTrajectory(None, t, {}, {}, pt.Result.successful, about, motion=motion)


def particles(run: BodyTrajectory, points: list, body: list[int]) -> np.ndarray:
    """Particles (time, particle, 3) by turning their points with the quaternions."""
    w, u = run.quaternion[:, body, :1], run.quaternion[:, body, 1:]
    arms = np.broadcast_to(points, u.shape)
    across = np.cross(u, arms)
    return run.position[:, body] + arms + 2.0 * (w * across + np.cross(u, across))


@pytest.mark.parametrize("suffix", TEXT)
def test_ase_reads_particles_bodies_and_orientations(mixed, suffix, tmp_path):
    path = tmp_path / f"run.{suffix}"
    mixed.export(path)
    frames = atoms(path)
    body = [0, 0, 0, 1]
    points = [*mixed.attributes["particles"][0], np.zeros(3)]
    expected = particles(mixed, points, body)
    assert len(frames) == STEPS
    for k, frame in enumerate(frames):
        np.testing.assert_allclose(frame.positions, expected[k], rtol=0.0, atol=1e-14)
        orientation = frame.arrays["quaternion" if suffix == "xyz" else "quaternions"]
        np.testing.assert_array_equal(orientation, mixed.quaternion[k][body])
        assert not frame.pbc.any()
    if suffix == "xyz":
        np.testing.assert_array_equal(frames[1].arrays["body"], body)
        np.testing.assert_array_equal(frames[1].get_masses(), [1.0, 2.0, 3.0, 5.0])
        assert [frame.info["Time"] for frame in frames] == mixed.t.tolist()


def test_velocities_are_rates_of_the_particles(periodic, tmp_path):
    """Those of the XYZ file beside differences of positions over a step, whose error is of second order."""
    periodic.export(tmp_path / "run.xyz")
    frames = atoms(tmp_path / "run.xyz")
    velocities = [frame.arrays["velo"] for frame in frames]
    found = (frames[2].positions - frames[0].positions) / (2.0 * DT)
    spread = np.max(np.abs(velocities[1] - velocities[1].mean(axis=0)))
    assert np.max(np.abs(found - velocities[1])) < 0.1 * spread


def test_a_periodic_chain_has_its_period(periodic, tmp_path):
    length = 3 * 2.0
    assert periodic.attributes["period"] == length
    for suffix in TEXT:
        path = tmp_path / f"run.{suffix}"
        periodic.export(path)
        frame = atoms(path)[-1]
        assert frame.pbc.tolist() == [True, False, False] and len(frame) == 12
        np.testing.assert_allclose(frame.cell[0], [length, 0.0, 0.0], rtol=1e-15)


def test_hoomd_reads_bodies_with_their_constituents(periodic, tmp_path):
    path = tmp_path / "run.gsd"
    periodic.export(path)
    single = float(np.finfo(np.float32).eps)
    points = periodic.attributes["particles"][0]
    expected = particles(periodic, points * 3, [0] * 4 + [1] * 4 + [2] * 4)
    frames = snapshots(path)
    assert len(frames) == STEPS + 1
    for k, frame in enumerate(frames):
        frame.validate()
        part, box = frame.particles, frame.configuration.box
        assert frame.configuration.step == k and frame.log["time"] == periodic.t[k]
        assert part.types == ["body", "particle"] and part.typeid.tolist() == [0] * 3 + [1] * 12
        assert part.body.tolist() == [0, 1, 2] + [0] * 4 + [1] * 4 + [2] * 4
        assert np.all(np.abs(part.position) <= 0.5 * box[:3])
        whole = part.position + part.image * box[None, :3]
        np.testing.assert_allclose(whole[:3], periodic.position[k], rtol=0.0, atol=40 * single)
        np.testing.assert_allclose(whole[3:], expected[k], rtol=0.0, atol=40 * single)
        np.testing.assert_allclose(part.orientation[:3], periodic.quaternion[k], rtol=0.0, atol=single)
        np.testing.assert_allclose(part.mass, [4.0] * 3 + [1.0] * 12, rtol=single)
    assert np.any(frames[-1].particles.image), "the chain has gone round"


def test_a_body_without_particles_is_its_mass_centre(mixed, tmp_path):
    export(mixed, tmp_path / "run.gsd")
    part = snapshots(tmp_path / "run.gsd")[0].particles
    assert part.typeid.tolist() == [0, 0, 1, 1, 1] and part.body.tolist() == [0, 1, 0, 0, 0]
    np.testing.assert_allclose(part.mass, [6.0, 5.0, 1.0, 2.0, 3.0])


def test_stored_runs_are_exported_the_same(periodic, tmp_path):
    periodic.save(tmp_path / "run.zarr")
    stored = tmp_path / "stored.dump"
    assert CliRunner().invoke(app, ["export", str(tmp_path / "run.zarr"), str(stored)]).exit_code == 0
    periodic.export(tmp_path / "run.dump")
    assert stored.read_bytes() == (tmp_path / "run.dump").read_bytes()


def test_wrong_exports_are_one_line(mixed, tmp_path):
    with pytest.raises(pt.InputError, match=r"run.pdb: the end of the name must be one of .xyz"):
        mixed.export(tmp_path / "run.pdb")
    (tmp_path / "taken.xyz").mkdir()
    with pytest.raises(pt.InputError, match="exists and is not a file"):
        mixed.export(tmp_path / "taken.xyz")
    kept = tmp_path / "kept.xyz"
    kept.write_text("old")
    del mixed.attributes["particle_masses"]
    with pytest.raises(pt.InputError, match="stored without the particles"):
        mixed.export(kept)
    with pytest.raises(pt.InputError, match="only runs of bodies"):
        export(Trajectory(None, mixed.t, {}, {}, pt.Result.successful), kept)
    assert kept.read_text() == "old" and sorted(p.name for p in tmp_path.iterdir()) == [
        "kept.xyz",
        "taken.xyz",
    ]
