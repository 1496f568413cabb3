"""Files: scenarios, stored trajectories, and exports to other programs."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.io._dataset import to_dataset
    from poinsot.io._describe_robot import describe_robot
    from poinsot.io._export import export
    from poinsot.io._mjcf import read_mjcf
    from poinsot.io._read_robot import read_robot
    from poinsot.io._scenario import Scenario, load_scenario
    from poinsot.io._store import check_place, load, save
    from poinsot.io._urdf import read_urdf
    from poinsot.io._write_urdf import write_urdf

__all__ = [
    "Scenario",
    "check_place",
    "describe_robot",
    "export",
    "load",
    "load_scenario",
    "read_mjcf",
    "read_robot",
    "read_urdf",
    "save",
    "to_dataset",
    "write_urdf",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "to_dataset": "._dataset",
        "describe_robot": "._describe_robot",
        "export": "._export",
        "read_mjcf": "._mjcf",
        "read_robot": "._read_robot",
        "check_place load save": "._store",
        "read_urdf": "._urdf",
        "write_urdf": "._write_urdf",
        "Scenario load_scenario": "._scenario",
    },
)
