"""What there is to wait for before a first result, in counts: modules, programs of XLA, native programs.

Seconds are measured by `benchmarks/waiting.py`. Each case has a process of its own: programs and modules of
earlier tests would not count.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
BEGIN = """
import json, sys
import poinsot as pt
from counting import xla_programs
from poinsot.kernels import programs_made

found = {}
with xla_programs() as programs:
"""
TOP = """
    system = pt.library.heavy_top(inertia=(50, 42, 10), mgl=11.09 * 9.81)
    start = system.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(0, 0, 20))
    found["building"] = list(programs)
    run = pt.simulate(system, start, t1=1.0, dt=0.01, coordinates="group", integrator="lie-splitting")
    run.report()
"""
RODS = """
    rods = [pt.shapes.rod(length=1.0, mass=1.0, name=name) for name in ("upper", "lower")]
    shoulder = pt.joints.Revolute("ground", "upper", at=(-0.5, 0, 0), axis=(0, 1, 0), name="shoulder")
    elbow = pt.joints.Spherical("upper", "lower", at_first=(0.5, 0, 0), at_second=(-0.5, 0, 0), name="elbow")
    system = pt.System(rods, joints=[shoulder, elbow], potentials=[pt.potentials.UniformGravity()])
    start = system.assemble(velocity={"shoulder": 3.0})
    found["building"] = list(programs)
    run = pt.simulate(system, start, t1=0.1, dt=1e-3, coordinates="group", integrator="lie-rattle")
    run.report()
"""
END = """
    found["whole"] = list(programs)
found["native"], found["modules"] = programs_made(), sorted(sys.modules)
print(json.dumps(found))
"""
HEAVY = {"matplotlib", "zarr", "xarray", "pandas", "pydantic", "rich", "typer", "scipy", "diffrax", "heyoka"}
UNUSED = {
    "poinsot.analysis",
    "poinsot.control._lqr",
    "poinsot.integrators.adaptive._taylor",
    "poinsot.integrators.constrained",
    "poinsot.io",
    "poinsot.library._four_bar",
    "poinsot.model.joints._universal",
    "poinsot.model.potentials._gay_berne",
    "poinsot.papers",
    "poinsot.viz",
}
"""Of all parts of the package one or two, which a top does without."""


def counted(program: str) -> dict:
    """What a program found out in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program + END],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def top():
    return counted(TOP)


def test_a_top_loads_what_it_needs(top):
    loaded = set(top["modules"])
    assert not HEAVY & {name.partition(".")[0] for name in loaded}
    assert not UNUSED & loaded
    assert "poinsot.library._heavy_top" in loaded
    own = [name for name in loaded if name.partition(".")[0] == "poinsot"]
    assert len(own) <= 335


def test_a_top_needs_few_programs(top):
    """There were 74 of XLA, one for each operation and shape."""
    assert len(top["building"]) <= 2, top["building"]
    assert len(top["whole"]) <= 4, top["whole"]
    assert top["native"] <= 10


def test_a_mechanism_needs_few_programs():
    """There were 91."""
    rods = counted(RODS)
    assert len(rods["building"]) <= 4, rods["building"]
    assert len(rods["whole"]) <= 6, rods["whole"]
    assert rods["native"] <= 17
