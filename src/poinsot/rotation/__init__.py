"""Rotations: quaternions, rotation matrices, rotation vectors, Euler angles, and the ways between them.

One convention throughout. A quaternion is Hamilton's, scalar first, `(w, x, y, z)`. A rotation matrix takes
body to space components; its columns are the directors d1, d2, d3. A rotation vector xi turns by |xi| about
xi. Angular velocities called `omega_body` are in body components, R' = R hat(omega_body). Leading axes are
batch axes, and every function works under `jit`, `vmap` and `grad`.

- build a rotation matrix: `about_x`, `about_y`, `about_z`, `about_axis`, `euler`, `exp`, `to_matrix`
- quaternions: `multiply`, `conjugate`, `inverse`, `normalise`, `rotate`, `identity`, `left_matrix`, `G`,
  `quat_rate`, `omega_body`, `from_scalar_last`, `to_scalar_last`, `quat_exp`, `quat_log`
- the group SO(3): `hat`, `vee`, `exp`, `log`, and the tangent maps `Tl`, `Tr`, `Tl_inverse`, `Tr_inverse`,
  `quat_tangent`, `quat_tangent_inverse`
- from matrices: `from_matrix`, `extracted_quaternion`, `nearest_rotation`, `euler_angles`
- Euler angles: `euler`, `euler_quaternion`, `euler_angles`, `euler_rate_matrix`, `euler_singularity`,
  `near_singularity`
- the Euler map: `to_matrix`, `euler_map_differential`, `euler_map_pseudo_inverse`, `vec`, `unvec`
- motion: `free_rotation`, of a free rigid body over any time, exact
- functions of an angle: `sincos`, `stumpff`, `inverse_tangent_coefficient`, `angle_over_sine`
"""

from ._elementary import about_axis, about_x, about_y, about_z
from ._euler_angles import (
    EULER_SEQUENCES,
    euler,
    euler_angles,
    euler_quaternion,
    euler_rate_matrix,
    euler_singularity,
    near_singularity,
)
from ._euler_map import euler_map_differential, euler_map_pseudo_inverse, to_matrix, unvec, vec
from ._extraction import davenport_matrix, extracted_quaternion, from_matrix
from ._free_rotation import free_rotation
from ._nearest import nearest_rotation
from ._quaternion import (
    G,
    conjugate,
    from_scalar_last,
    identity,
    inverse,
    left_matrix,
    multiply,
    normalise,
    omega_body,
    quat_rate,
    rotate,
    to_scalar_last,
)
from ._series import angle_over_sine, inverse_tangent_coefficient, stumpff
from ._sincos import SINCOS_LIMIT, SINCOS_RANGE, sincos
from ._so3 import exp, hat, log, vee
from ._tangent import Tl, Tl_inverse, Tr, Tr_inverse, quat_tangent, quat_tangent_inverse
from ._unit_quaternion import quat_exp, quat_log

__all__ = [
    "EULER_SEQUENCES",
    "G",
    "SINCOS_LIMIT",
    "SINCOS_RANGE",
    "Tl",
    "Tl_inverse",
    "Tr",
    "Tr_inverse",
    "about_axis",
    "about_x",
    "about_y",
    "about_z",
    "angle_over_sine",
    "conjugate",
    "davenport_matrix",
    "euler",
    "euler_angles",
    "euler_map_differential",
    "euler_map_pseudo_inverse",
    "euler_quaternion",
    "euler_rate_matrix",
    "euler_singularity",
    "exp",
    "extracted_quaternion",
    "free_rotation",
    "from_matrix",
    "from_scalar_last",
    "hat",
    "identity",
    "inverse",
    "inverse_tangent_coefficient",
    "left_matrix",
    "log",
    "multiply",
    "near_singularity",
    "nearest_rotation",
    "normalise",
    "omega_body",
    "quat_exp",
    "quat_log",
    "quat_rate",
    "quat_tangent",
    "quat_tangent_inverse",
    "rotate",
    "sincos",
    "stumpff",
    "to_matrix",
    "to_scalar_last",
    "unvec",
    "vec",
    "vee",
]
