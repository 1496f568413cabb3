"""A trajectory as an xarray Dataset, and back."""

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.core import InputError, Result, checked, optional
from poinsot.integrators.adaptive import Counts
from poinsot.simulation import BodyTrajectory, History, Scale, Steps, Trajectory

if TYPE_CHECKING:
    import xarray

FORMAT = "poinsot_format"
"""Attribute that marks a dataset as a trajectory; its value is the version of the layout."""
VERSION = 3
"""Layout 2 adds the motion of bodies to layout 1, layout 3 the steps of an adaptive solver."""
READABLE = (1, 2, 3)
_RESULT = "poinsot_result"

MOTION_DIMS = {
    "position": ("body", "axis"),
    "rotation": ("body", "row", "column"),
    "quaternion": ("body", "part"),
    "velocity": ("body", "axis"),
    "angular_velocity": ("body", "axis"),
    "linear_momentum": ("axis",),
    "angular_momentum": ("axis",),
    "constraint": ("body", "equation"),
    "constraint_rate": ("body", "equation"),
    "multipliers": ("body", "multiplier"),
}
"""Dimensions of what is seen of bodies, after `time`; a quantity that is not here has `time` alone."""
_COORDINATES = {"axis": list("xyz"), "part": list("wxyz")}


@checked
def to_dataset(trajectory: Trajectory) -> "xarray.Dataset":
    """The run as labelled arrays.

    Variables are the components of the state, over `time` and `component`, and every conserved quantity,
    over `time` (and axes of its own if it has several components). The attributes are those of the run,
    with how it ended. Of a problem with constraints there are the `multipliers` too.

    Of a run of bodies the whole motion is there too, over `time`, `body` (by name), `axis` (x, y, z), `row`
    and `column` of rotation matrices, `part` (w, x, y, z) of quaternions. Of an adaptive run there are the
    ends of its steps, `step_time` (the start first), and the `step_rejected` attempts before each.
    """
    xarray = optional("xarray", "data", "a dataset")
    shapes = {values.shape[1:] for values in trajectory.components.values()}
    variables = {}
    for name, values in trajectory.components.items():
        # Components of one shape share their dimension, so that q * p is taken componentwise.
        axis = "component" if len(shapes) == 1 else f"{name} component"
        variables[name] = (_dims(axis, values), values, {"role": "state", "place": len(variables)})
    coordinates: dict[str, Any] = {"time": trajectory.t}
    if isinstance(trajectory, BodyTrajectory):
        coordinates |= _names(trajectory)
        for name, values in trajectory.motion.items():
            dims = ("time", *MOTION_DIMS.get(name, ()))
            variables[name] = (dims, values, {"role": "motion", "place": len(variables)})
    for name, values in trajectory.further.items():
        variables[name] = (("time", "multiplier"), values, {"role": "further", "place": len(variables)})
    variables |= _history(trajectory, len(variables))
    for name, values in trajectory.conserved.items():
        about = {
            "role": "conserved",
            "place": len(variables),
            "long_name": name,
            **{f"{scale}_scale": size for scale, size in asdict(trajectory.scales[name]).items()},
        }
        variable = _variable_name(name, variables)
        variables[variable] = (_dims(f"{variable} component", values), values, about)
    marks = {FORMAT: VERSION, _RESULT: trajectory.result.name}
    attributes = {key: _plain(value, key) for key, value in trajectory.attributes.items()}
    return xarray.Dataset(variables, coords=coordinates, attrs=attributes | marks)


def from_dataset(dataset: "xarray.Dataset") -> Trajectory:
    """The trajectory of a dataset made by `to_dataset`; the problem itself, being code, is not in it."""
    # A store hands its arrays out in no particular order.
    ordered = sorted(dataset.data_vars.values(), key=lambda variable: variable.attrs["place"])
    state, motion, further = (
        {str(v.name): v.values for v in ordered if v.attrs["role"] == role}
        for role in ("state", "motion", "further")
    )
    conserved = {v.attrs["long_name"]: v for v in ordered if v.attrs["role"] == "conserved"}
    fields: dict[str, Any] = {
        "problem": None,
        "t": dataset["time"].values,
        "components": state,
        "conserved": {name: variable.values for name, variable in conserved.items()},
        "result": Result[dataset.attrs[_RESULT]],
        "further": further,
        "attributes": {str(k): v for k, v in dataset.attrs.items() if k not in (FORMAT, _RESULT)},
    }
    steps = {str(v.name): v.values for v in ordered if v.attrs["role"] == "steps"}
    if steps:
        counts = Counts(**dataset.attrs["counts"])
        fields["history"] = History(Steps(steps["step_time"], steps["step_rejected"]), counts, dense=None)
    trajectory = BodyTrajectory(**fields, motion=motion) if motion else Trajectory(**fields)
    # Fills the cached property: without the problem the scales cannot be computed again.
    vars(trajectory)["scales"] = {name: _scale(variable.attrs) for name, variable in conserved.items()}
    return trajectory


def _scale(attributes: dict[str, Any]) -> Scale:
    """Scales of a conserved quantity; older stores have one number of round-off for the whole run."""
    roundoff = np.atleast_1d(attributes["roundoff_scale"]).astype(float)
    extent, terms = (float(attributes.get(f"{name}_scale", np.max(roundoff))) for name in ("extent", "terms"))
    return Scale(tuple(roundoff.tolist()), extent, terms)


def _history(trajectory: Trajectory, place: int) -> dict[str, Any]:
    """The steps of an adaptive run; what they cost is among its attributes."""
    if trajectory.history is None:
        return {}
    steps = trajectory.history.steps
    return {
        "step_time": (("step end",), steps.t, {"role": "steps", "place": place}),
        "step_rejected": (("step",), steps.rejected, {"role": "steps", "place": place + 1}),
    }


def _names(trajectory: BodyTrajectory) -> dict[str, Any]:
    """Coordinates with names: of the bodies, of axes, of the parts of a quaternion."""
    names = {"body": trajectory.attributes["bodies"]} | _COORDINATES
    # Texts as objects: their arrays of fixed width have no place in the Zarr format.
    return {dim: np.array(values, dtype=object) for dim, values in names.items()}


def _dims(axis: str, values: np.ndarray) -> tuple[str, ...]:
    """Names of the dimensions: time, the components, then a number for each further axis."""
    further = [f"{axis} {i}" for i in range(2, values.ndim)]
    return ("time", axis, *further)[: values.ndim]


def _variable_name(name: str, taken: dict[str, Any]) -> str:
    """The name itself if a store can use it as the name of a folder, else a number."""
    usable = re.fullmatch(r"\w[\w +-]{0,80}", name) and not name.startswith("__")
    axes = {"time", "component", "body", "row", "column", "equation", "multiplier", "step", "step end"}
    reserved = {*taken, *axes, *_COORDINATES}
    for candidate in (name, f"conserved {name}"):
        if usable and candidate not in reserved:
            return candidate
    return next(other for i in range(len(taken) + 1) if (other := f"conserved {i}") not in reserved)


def _plain(value: Any, key: str) -> Any:
    """The value as JSON holds it."""
    if isinstance(value, dict):
        return {str(k): _plain(v, f"{key}.{k}") for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, key) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(f"attribute {key!r} is of type {type(value).__name__}; it must be what JSON can hold")
