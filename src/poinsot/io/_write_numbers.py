"""Numbers and poses in URDF files, with all their digits."""

from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from poinsot.io._robot_elements import Pose


def origin_of(element: Element, pose: Pose) -> None:
    r"""Add a pose by its place and its angles of roll, pitch and yaw, $R = R_z(y)\,R_y(p)\,R_x(r)$.

    Roll is that of what yaw leaves, so the product is right where roll and yaw turn about one axis too.
    """
    R = pose.rotation
    yaw = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    SubElement(element, "origin", xyz=text_of(pose.place), rpy=text_of((roll, pitch, yaw)))


def text_of(numbers: Any) -> str:
    """Numbers that are read again to the last bit."""
    return " ".join(repr(float(number)) for number in np.asarray(numbers).reshape(-1))
