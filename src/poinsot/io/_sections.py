"""The tables of a scenario file that every run has."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

_DIRECTIONS: dict[str, Literal[-1, 0, 1]] = {"up": 1, "down": -1, "both": 0}


class Section(BaseModel):
    """A table of the file: unknown keys are errors, and no text is taken for a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SystemSection(Section):
    """Which system of the library, and its parameters."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class RobotSection(Section):
    """A robot of a file beside the scenario; what is left out is as its reader has it."""

    file: str = Field(min_length=1)
    floating: bool | None = None
    gravity: list[float] | None = Field(default=None, min_length=3, max_length=3)
    damping: bool | None = None


class IntegratorSection(Section):
    """Which integrator, and how it solves its equations or chooses its steps."""

    name: str
    rtol: float | None = None
    atol: float | None = None
    first_step: float | None = None
    max_step: float | None = None
    projection: bool | Literal["position", "velocity", "both"] | None = None
    compensated: bool | None = None
    solver: Literal["fixed-point", "newton"] | None = None
    tolerance: float | None = Field(default=None, ge=0.0)
    max_iterations: int | None = Field(default=None, ge=1)


class StopSection(Section):
    """Ends the run where a component of the state passes a value."""

    component: str = Field(pattern=r"^[a-z_]+\[[0-9]+( *, *[0-9]+)*\]$")
    value: float = Field(default=0.0, allow_inf_nan=False)
    direction: Literal["up", "down", "both"] = "both"

    @property
    def sign(self) -> Literal[-1, 0, 1]:
        """The direction as `Event` takes it."""
        return _DIRECTIONS[self.direction]

    @property
    def place(self) -> tuple[str, tuple[int, ...]]:
        """Label and indices of the component."""
        label, indices = self.component.rstrip("]").split("[")
        return label, tuple(map(int, indices.split(",")))


class RunSection(Section):
    """From when to when, in which steps, and what is kept."""

    t1: float
    dt: float | None = None
    t0: float = 0.0
    save_every: int | None = Field(default=None, ge=1)
    save_at: list[float] | None = None
    last_step: Literal["refuse", "shorten"] = "refuse"
    stop: StopSection | None = None

    @model_validator(mode="after")
    def _one_way_to_save(self) -> "RunSection":
        if self.save_every is not None and self.save_at is not None:
            raise ValueError("has both save_every and save_at; keep one of them")
        return self


class OutputSection(Section):
    """What `poinsot run` writes, and where."""

    folder: str | None = Field(default=None, min_length=1)
    store: bool = True
    pictures: bool = True
