"""What a body may do: move freely, turn about a point, only translate, stay, or follow a given motion."""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import Checked, InputError, Printable, Registry, on_device, quoted

from ._checks import Numbers, as_array, concrete
from ._params import Parametrised
from ._rotations import as_quaternion, rotation_matrix

__all__ = [
    "REGISTRY",
    "AbstractFreedom",
    "Clamped",
    "FixedPoint",
    "Free",
    "Guided",
    "Prescribed",
    "Translation",
]


class AbstractFreedom(Printable, Checked):
    """What is left of the six freedoms of a body. Only what moves is part of the state that is stepped."""

    translates: ClassVar[bool]
    """The position of the mass centre is a coordinate."""
    rotates: ClassVar[bool]
    """The rotation is a coordinate."""


class Free(AbstractFreedom):
    """All six freedoms."""

    translates: ClassVar[bool] = True
    rotates: ClassVar[bool] = True


class FixedPoint(AbstractFreedom):
    r"""Rotation about one point of the body, which stays at one place in space.

    $$ x = a - R\,\rho $$

    The inertia is shifted to the fixed point for you: bodies always give theirs about the mass centre.

    Args:
        point: body coordinates $\rho$ of the fixed point, relative to the mass centre. Written as
            `(0, 0, -l)` with a traced `l`, it is known to lie on an axis: the principal frame then stays as
            it is, and derivatives in `l` exist for symmetric bodies too.
        at: the place a in space.
    """

    translates: ClassVar[bool] = False
    rotates: ClassVar[bool] = True

    point: Float[Array, "3"]
    at: Float[Array, "3"]
    components: tuple[int, ...] = eqx.field(static=True)
    """Components of `point` that are not known to be zero."""

    def __init__(self, point: Any = (0.0, 0.0, 0.0), at: Numbers = (0.0, 0.0, 0.0)):
        self.point = as_array(point, "point of FixedPoint", (3,))
        self.at = as_array(at, "at of FixedPoint", (3,))
        parts = list(point) if isinstance(point, (tuple, list)) else list(self.point)
        self.components = tuple(k for k in range(3) if not (concrete(parts[k]) and float(parts[k]) == 0.0))


class Translation(AbstractFreedom):
    """Translation without rotation.

    Args:
        rotation: the constant rotation, a quaternion or a matrix; none when left out.
    """

    translates: ClassVar[bool] = True
    rotates: ClassVar[bool] = False

    rotation: Float[Array, "3 3"]

    def __init__(self, rotation: Any = None):
        self.rotation = _constant(rotation, "rotation of Translation")


class Clamped(AbstractFreedom):
    """No freedom: the body stays where it is and acts on others through potentials.

    Args:
        position: of the mass centre.
        rotation: a quaternion or a matrix; none when left out.
    """

    translates: ClassVar[bool] = False
    rotates: ClassVar[bool] = False

    position: Float[Array, "3"]
    rotation: Float[Array, "3 3"]

    def __init__(self, position: Numbers = (0.0, 0.0, 0.0), rotation: Any = None):
        self.position = as_array(position, "position of Clamped", (3,))
        self.rotation = _constant(rotation, "rotation of Clamped")


class Guided(AbstractFreedom):
    """Rotation of a body whose mass centre follows a path given as a function of time.

    Args:
        path: `path(t) -> x` or `path(t, params) -> x`, position (3,) of the mass centre, as a differentiable
            function: the velocity is its derivative.
        params: any pytree of numbers and arrays; those of the system when left out.
    """

    translates: ClassVar[bool] = False
    rotates: ClassVar[bool] = True

    path: Parametrised

    def __init__(self, path: Callable, *, params: Any = None):
        if not callable(path):
            raise InputError(f"path of Guided = {quoted(path)}; it must be a function of time")
        self.path = Parametrised(path, (), "path of Guided", params)


class Prescribed(AbstractFreedom):
    """A motion given as a function of time; what it takes to bring it about is not asked.

    Args:
        motion: `motion(t) -> (x, R)` or `motion(t, params) -> (x, R)`, position (3,) of the mass centre and
            rotation matrix (3, 3), as a differentiable function: velocities are its derivatives.
        params: any pytree of numbers and arrays; those of the system when left out.
    """

    translates: ClassVar[bool] = False
    rotates: ClassVar[bool] = False

    motion: Parametrised

    def __init__(self, motion: Callable, *, params: Any = None):
        if not callable(motion):
            raise InputError(f"motion of Prescribed = {quoted(motion)}; it must be a function of time")
        self.motion = Parametrised(motion, (), "motion of Prescribed", params, several=True)


def _constant(rotation: Any, field: str) -> Float[Array, "3 3"]:
    """Matrix of a rotation that was given, or of none."""
    return on_device(np.eye(3)) if rotation is None else rotation_matrix(as_quaternion(rotation, field))


REGISTRY: Registry[Callable[..., AbstractFreedom]] = Registry(
    "freedom", {"free": Free, "fixed-point": FixedPoint, "translation": Translation, "clamped": Clamped}
)
