"""The tables of a scenario file that describe rigid bodies and where they start."""

import math
from collections.abc import Collection
from typing import Annotated, Any, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, WrapValidator, model_validator

from poinsot import rotation
from poinsot.core import InputError, on_device
from poinsot.io._sections import Section

Vector = Annotated[list[float], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[float], Field(min_length=4, max_length=4)]

_WAYS = (("euler", "angles"), ("axis", "angle"), ("quaternion",), ("matrix",))
"""Keys that give a rotation together."""

ROUND_OFF = 1e-12
"""How far a rotation that is given may be from one."""


class Named(BaseModel):
    """One of several things by its name; its other keys are those of the thing."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    name: str

    @property
    def fields(self) -> dict[str, Any]:
        """All keys but the name."""
        return self.model_extra or {}


class RotationSection(Section):
    """A rotation from body to space, in one of four ways."""

    euler: str | None = None
    angles: Vector | None = None
    axis: Vector | None = None
    angle: float | None = None
    unit: Literal["radians", "degrees"] = "radians"
    quaternion: Quaternion | None = None
    matrix: Annotated[list[Vector], Field(min_length=3, max_length=3)] | None = None
    normalise: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> "RotationSection":
        given = tuple(key for way in _WAYS for key in way if getattr(self, key) is not None)
        if given not in _WAYS:
            ways = ", or ".join(" and ".join(way) for way in _WAYS)
            raise ValueError(f"has {' and '.join(given) or 'no rotation'}; it needs {ways}")
        if self.euler is not None and self.euler not in rotation.EULER_SEQUENCES:
            known = ", ".join(rotation.EULER_SEQUENCES)
            raise ValueError(f"euler = {self.euler!r} is not known; the sequences are {known}")
        if self.axis is not None and not any(self.axis):
            raise ValueError(f"axis = {self.axis}; it must have a direction")
        if self.quaternion is not None and not self.normalise:
            _check_unit(math.hypot(*self.quaternion) - 1.0, "quaternion has length 1 but for {}")
        if self.matrix is not None:
            _check_matrix(np.array(self.matrix), self.normalise)
        return self

    def value(self) -> Array:
        """The rotation as a unit quaternion."""
        radians = math.pi / 180.0 if self.unit == "degrees" else 1.0
        if self.euler is not None and self.angles is not None:
            return rotation.euler_quaternion(self.euler, [radians * angle for angle in self.angles])
        if self.axis is not None and self.angle is not None:
            return rotation.from_matrix(rotation.about_axis(self.axis, radians * self.angle))
        if self.quaternion is not None:
            return rotation.normalise(jnp.array(self.quaternion))
        matrix = jnp.array(self.matrix)
        return rotation.from_matrix(rotation.nearest_rotation(matrix) if self.normalise else matrix)


def _check_matrix(matrix: np.ndarray, normalise: bool) -> None:
    """Refuse a matrix that is a reflection, or no rotation and not to be made one."""
    if not np.linalg.det(matrix) > 0.0:
        raise ValueError("matrix has a determinant that is not positive: it is no rotation")
    if not normalise:
        _check_unit(np.max(np.abs(matrix.T @ matrix - np.eye(3))), "matrix is orthogonal but for {}")


def _check_unit(gap: float, sentence: str) -> None:
    if not abs(gap) <= ROUND_OFF:
        raise ValueError(f"{sentence.format(f'{abs(gap):.3g}')}; add digits, or normalise = true")


class BodyStart(Section):
    """Where a body starts; what is left out is zero, or follows from its freedom."""

    position: Vector | None = None
    rotation: RotationSection | None = None
    velocity: Vector | None = None
    angular_velocity: Vector | None = None

    def values(self) -> dict[str, Any]:
        """What was given, as `System.state` takes it for one body."""
        vectors = {key: getattr(self, key) for key in ("position", "velocity", "angular_velocity")}
        given = {key: on_device(value) for key, value in vectors.items() if value is not None}
        return given if self.rotation is None else given | {"rotation": self.rotation.value()}


_STRICT = ConfigDict(strict=True)
_VECTOR: TypeAdapter = TypeAdapter(Vector, config=_STRICT)
_VECTORS: TypeAdapter = TypeAdapter(list[Vector], config=_STRICT)
_QUATERNIONS: TypeAdapter = TypeAdapter(list[Quaternion], config=_STRICT)


def _vector_or_rows(value: Any, _) -> Any:
    """Chosen by what is there, so that a fault is that of what was meant."""
    rows = isinstance(value, list) and any(isinstance(row, list) for row in value)
    return (_VECTORS if rows else _VECTOR).validate_python(value)


def _rotation_or_rows(value: Any, _) -> Any:
    if isinstance(value, list):
        return _QUATERNIONS.validate_python(value)
    return RotationSection.model_validate(value)


VectorOrRows = Annotated[Vector | list[Vector], WrapValidator(_vector_or_rows)]
RotationOrRows = Annotated[RotationSection | list[Quaternion], WrapValidator(_rotation_or_rows)]


class StartSection(Section):
    """The start of a system of the library: of equations in their labels, of one body, or of a chain."""

    q: list[float] | None = None
    p: list[float] | None = None
    y: list[float] | None = None
    position: VectorOrRows | None = None
    rotation: RotationOrRows | None = None
    velocity: VectorOrRows | None = None
    angular_velocity: VectorOrRows | None = None
    velocity_scale: float | None = Field(default=None, ge=0.0)
    seed: int | None = Field(default=None, ge=0)
    coordinates: dict[str, Any] | None = None
    rates: dict[str, Any] | None = None

    def given(self, keys: Collection[str]) -> dict[str, Any]:
        """Those of the keys that the file has, with their values."""
        return {key: value for key, value in self if key in keys and value is not None}

    def of_one_body(self, name: str) -> BodyStart:
        """The same for one body; `name` is that of the system, for error messages.

        Raises:
            InputError: it is for something else.
        """
        labels = self.given(("q", "p", "y"))
        if labels:
            raise InputError(
                f"[start] has {', '.join(labels)}; {name} is a body, which starts with position, rotation, "
                "velocity and angular_velocity"
            )
        for key in self.given(("velocity_scale", "seed")):
            raise InputError(f"[start] {key} is for chains; {name} is a body, which starts with velocity")
        values = self.given(BodyStart.model_fields)
        for key, value in values.items():
            if isinstance(value, list) and isinstance(value[0], list):
                raise InputError(f"[start] {key} has {len(value)} rows; {name} is one body, which needs one")
        return BodyStart(**values)


class ReferenceSection(Section):
    """The pose of a body in which places and axes of joints are given in space."""

    position: Vector = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    rotation: RotationSection | None = None

    def value(self) -> tuple[Array, Array]:
        """Position and unit quaternion."""
        turned = rotation.identity() if self.rotation is None else self.rotation.value()
        return jnp.array(self.position), turned


class BodySection(Section):
    """A body of the file: its mass and how that is distributed, what it may do, where it starts."""

    name: str = Field(min_length=1)
    mass: float | None = None
    density: float | None = None
    inertia: list[Any] | None = None
    shape: Named | None = None
    freedom: Named | None = None
    reference: ReferenceSection | None = None
    start: BodyStart = Field(default_factory=BodyStart)

    @model_validator(mode="after")
    def _whole(self) -> "BodySection":
        if (self.inertia is None) == (self.shape is None):
            given = "neither inertia nor shape" if self.shape is None else "both inertia and shape"
            raise ValueError(f"{self.name!r} has {given}; give one of them")
        if self.inertia is not None and (self.mass is None or self.density is not None):
            raise ValueError(f"{self.name!r} has an inertia; it needs mass too, and no density")
        return self


class EquationsSection(Section):
    """The form of the equations of motion."""

    form: str
