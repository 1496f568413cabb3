"""The common tongue: states, problem kinds, outcomes. Everything else meets here."""

from poinsot.core._abreast import abreast
from poinsot.core._blocks import Blocks, one_block
from poinsot.core._bodies import body_after_body, each_body
from poinsot.core._constrained import AbstractConstrained, Constrained
from poinsot.core._discrete_gradient import composed_gradient, corrected, discrete_gradient, whole_gradient
from poinsot.core._energy import AbstractEnergy
from poinsot.core._errors import InputError
from poinsot.core._extras import MissingPackageError, check_installed, optional
from poinsot.core._functions import Use, check_uses, failure, tried
from poinsot.core._group import Element, Group, GroupParts, LocalWrench, Wrench, body_torque
from poinsot.core._hold import barrier, held, hold, hold_p
from poinsot.core._implicit import AbstractImplicit, MultiplierForm, StabilisedForm
from poinsot.core._joints import (
    CLOSING,
    CLOSING_SHIFT,
    PLACING,
    PLACING_REPETITIONS,
    PUSHING,
    PUSHING_REPETITIONS,
    Closing,
    Joints,
    Mobility,
    Reach,
    Rows,
    Twist,
    along_joints,
    closed,
    joint_solution,
    placing,
    pushing,
    reached,
    straightened,
)
from poinsot.core._known import concrete, joined, known_numbers, on_device, within_trace
from poinsot.core._largest import largest
from poinsot.core._local_field import LocalField
from poinsot.core._numbers import (
    as_array,
    as_batch,
    as_count,
    as_floats,
    as_number,
    check_all_finite,
    unscaled,
)
from poinsot.core._problem import (
    ODE,
    AbstractProblem,
    Hamiltonian,
    Packed,
    PhaseSpace,
    as_params,
    field,
    largest_component,
)
from poinsot.core._projection import Projection, saddle_point
from poinsot.core._recommendation import Recommending
from poinsot.core._registry import (
    REQUIRED,
    Registry,
    check_called,
    check_parameters,
    did_you_mean,
    few,
    known_names,
    parameters_of,
)
from poinsot.core._results import Result, StepInfo
from poinsot.core._show import Printable, brief, quoted, shortened, shown, title
from poinsot.core._signature import USERS, UserFunction, time_function, user_function
from poinsot.core._state import State
from poinsot.core._windows import InWindows, Windows

__all__ = [
    "joined",
    "known_numbers",
    "on_device",
    "within_trace",
    "pushing",
    "reached",
    "corrected",
    "whole_gradient",
    "AbstractConstrained",
    "AbstractEnergy",
    "AbstractImplicit",
    "AbstractProblem",
    "Blocks",
    "Constrained",
    "Element",
    "Group",
    "GroupParts",
    "Hamiltonian",
    "InWindows",
    "InputError",
    "Joints",
    "LocalField",
    "LocalWrench",
    "MissingPackageError",
    "MultiplierForm",
    "ODE",
    "Packed",
    "CLOSING",
    "CLOSING_SHIFT",
    "Closing",
    "PLACING",
    "PLACING_REPETITIONS",
    "PUSHING",
    "PUSHING_REPETITIONS",
    "Mobility",
    "placing",
    "PhaseSpace",
    "Printable",
    "Projection",
    "REQUIRED",
    "Reach",
    "Recommending",
    "Registry",
    "Result",
    "Rows",
    "StabilisedForm",
    "State",
    "StepInfo",
    "Twist",
    "Use",
    "USERS",
    "UserFunction",
    "Windows",
    "Wrench",
    "abreast",
    "as_array",
    "as_batch",
    "as_count",
    "as_floats",
    "as_number",
    "as_params",
    "barrier",
    "body_after_body",
    "body_torque",
    "brief",
    "check_all_finite",
    "check_called",
    "check_installed",
    "check_parameters",
    "check_uses",
    "composed_gradient",
    "concrete",
    "did_you_mean",
    "few",
    "known_names",
    "discrete_gradient",
    "each_body",
    "failure",
    "field",
    "held",
    "hold",
    "hold_p",
    "largest",
    "largest_component",
    "one_block",
    "optional",
    "parameters_of",
    "quoted",
    "saddle_point",
    "shortened",
    "shown",
    "time_function",
    "title",
    "tried",
    "unscaled",
    "user_function",
    "along_joints",
    "closed",
    "joint_solution",
    "straightened",
]
