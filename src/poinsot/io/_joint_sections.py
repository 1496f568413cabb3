"""The tables of a scenario file that describe joints, drives and couplings."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from poinsot.io._sections import Section

Coordinates = float | dict[str, float]
"""The value of the coordinate of a joint, or of those that are named."""
Two = Field(min_length=2, max_length=2)


class JointSection(BaseModel):
    """A joint: its kind, and as other keys the arguments of that kind in `pt.joints`."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    kind: str

    @property
    def fields(self) -> dict[str, Any]:
        """All keys but the kind."""
        return self.model_extra or {}


class DriveSection(Section):
    r"""A joint coordinate as a function of time, $c_0 + r t + a\sin(\omega t + \varphi)$."""

    joint: str
    coordinate: str | None = None
    name: str | None = None
    offset: float = 0.0
    rate: float = 0.0
    amplitude: float = 0.0
    angular_frequency: float = 0.0
    phase: float = 0.0


class CouplingSection(Section):
    """Two joint coordinates in a fixed ratio."""

    first: str
    second: str
    weights: Annotated[list[float], Two]
    offset: float = 0.0
    coordinates: Annotated[list[str], Two] | None = None
    about: float | None = None
    name: str | None = None


class AssemblySection(Section):
    """Asks for closed joints near the starts that bodies have; other bodies follow their joints."""

    coordinates: dict[str, Coordinates] = Field(default_factory=dict)
    velocity: dict[str, Coordinates] = Field(default_factory=dict)
