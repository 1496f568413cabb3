"""What it takes to build a robot of many links: in proportion to their number."""

import time

import numpy as np
import pytest

from poinsot.io._robot import Robot
from poinsot.io._robot_elements import JointElement, Link


def grown(count: int) -> tuple[float, Robot]:
    """Seconds of the processor for a chain of links whose joints stand in the file from the tip inwards."""
    links = {f"l{k}": Link(f"l{k}", 1.0) for k in range(count + 1)}
    found = {f"j{k}": JointElement(f"j{k}", "fixed", f"l{k - 1}", f"l{k}") for k in range(count, 0, -1)}
    begin = time.process_time()
    robot = Robot("robot.urdf", "robot", links, found, floating=True)
    return time.process_time() - begin, robot


def test_links_are_put_in_order_in_proportion_to_their_number():
    """Four times as many take about four times as long; looking through all for each takes sixteen times."""
    few = min(grown(2000)[0] for _ in range(3))
    many, robot = min((grown(8000) for _ in range(3)), key=lambda one: one[0])
    assert [joint.name for joint in robot.order] == [f"j{k}" for k in range(1, 8001)]
    assert many < 8.0 * few


def test_joints_as_far_from_the_root_stand_in_the_order_of_the_file():
    ends = (("a", "c"), ("root", "b"), ("b", "d"), ("root", "a"))
    links = {name: Link(name, 1.0) for name in ("root", "a", "b", "c", "d")}
    found = {child: JointElement(child, "continuous", parent, child) for parent, child in ends}
    robot = Robot("robot.urdf", "robot", links, found, floating=False)
    assert [joint.name for joint in robot.order] == ["b", "a", "c", "d"]


@pytest.mark.slow
def test_a_robot_is_built_in_proportion_to_its_links():
    def built(count: int) -> float:
        robot = grown(count)[1]
        turning = [JointElement(one.name, "continuous", one.parent, one.child) for one in robot.order]
        links = {name: Link(name, 1.0, inertia=np.eye(3)) for name in robot.links}
        begin = time.process_time()
        Robot("robot.urdf", "robot", links, {one.name: one for one in turning}, floating=False).system(
            (0.0, 0.0, -9.81), damping=False
        )
        return time.process_time() - begin

    built(20)
    assert built(1200) < 7.0 * built(300)
