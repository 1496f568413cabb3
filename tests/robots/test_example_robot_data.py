"""Every robot of the package example-robot-data: `make test-robots`, which installs it."""

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from compared import compared, label, robots

FILES = {label(file): file for file in robots()}
REFUSED = {
    "alex_psyonic_hands.urdf": "mimics 'index_q1', which is no joint",
    "romeo.urdf": "'LHand' moves 'LFinger11Link', 'LFinger12Link', 'LFinger13Link' without any inertia",
    "romeo_laas_small.urdf": "has principal moments",
    "romeo_small.urdf": "triangle inequality",
    "ur3.urdf": "has no link",
}
"""Files that are refused with either base, and why."""
STILL = ("iris_simple.urdf", "quadrotor_base.urdf")
"""Files of one body: with a fixed base nothing moves."""


@cache
def text(file: Path) -> str:
    return file.read_text(errors="replace")


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="example-robot-data is not installed: run make test-robots")
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", FILES or ["none"])
def test_a_robot_has_the_mechanics_that_pinocchio_reads_or_is_refused(name, floating):
    found, name = compared(FILES[name], floating=floating), name.split("/")[-1]
    if name in REFUSED:
        assert found.refusal is not None and REFUSED[name] in found.refusal
    elif name in STILL and not floating:
        assert found.refusal is not None and "has no joint that moves" in found.refusal
    else:
        assert found.refusal is None
        assert max(found.errors) < 1e-9, found


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="example-robot-data is not installed: run make test-robots")
def test_reasons_are_true_of_the_files():
    assert len(FILES) == 69
    said = {file.name: text(file) for file in FILES.values()}
    assert '<joint name="index_q1"' not in said["alex_psyonic_hands.urdf"]
    links = ElementTree.fromstring(said["romeo.urdf"]).findall("link")
    masses = {link.get("name"): link.find("inertial/mass") for link in links}
    for name in ("LFinger11Link", "LFinger12Link", "LFinger13Link"):
        mass = masses[name]
        assert mass is not None and mass.get("value") == "0", "a finger has no mass"
    assert "<link" not in said["ur3.urdf"]
    for name in STILL:
        assert not any(f'type="{kind}"' in said[name] for kind in ("revolute", "continuous", "prismatic"))
