"""Poinsot: motion of bodies that keeps what physics keeps.

Importing the package switches JAX to float64, which everything here needs: a run of a million steps has no
digits to spare. It also asks XLA to compile small loops whole. Its parts load when they are first used, so
`import poinsot` itself costs nothing.
"""

import os
import sys
from typing import TYPE_CHECKING

from poinsot._lazy import lazy
from poinsot._version import __version__

if "jax" in sys.modules:
    sys.modules["jax"].config.update("jax_enable_x64", True)
else:
    # Read by JAX when it is imported; importing it here would cost a second even for `poinsot --help`.
    os.environ["JAX_ENABLE_X64"] = "1"

# On the CPU, XLA makes one piece of machine code of a loop whose data are small, and calls one kernel after
# another in all other loops. Its limit is 1 kB; with a larger one a step of Gauss 6 takes a third of the
# time. And it uses vectors of 256 bits where the processor has 512: with these an ensemble of tops takes half
# the time. Flags are read at JAX's first computation. A user's own options of these kinds are left alone.
for _option in (
    "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=16000000",
    "--xla_cpu_prefer_vector_width=512",
):
    _flags = os.environ.get("XLA_FLAGS", "")
    if _option.split("=")[0] not in _flags:
        os.environ["XLA_FLAGS"] = f"{_flags} {_option}".strip()

if TYPE_CHECKING:
    from poinsot import (
        analysis,
        control,
        coordinates,
        core,
        equations,
        integrators,
        io,
        kernels,
        library,
        model,
        papers,
        rotation,
        simulation,
        solvers,
        viz,
    )
    from poinsot.core import ODE, Constrained, Hamiltonian, InputError, Result, State
    from poinsot.equations import formulate
    from poinsot.io import load
    from poinsot.library import register
    from poinsot.model import (
        Chain,
        OpenChain,
        RigidBody,
        System,
        Units,
        ends,
        freedom,
        joints,
        loads,
        potentials,
        shapes,
    )
    from poinsot.simulation import (
        BodyTrajectory,
        Event,
        Interrupted,
        SimulationError,
        Solution,
        Trajectory,
        ensemble,
        simulate,
        solve,
    )

__all__ = [
    "ODE",
    "BodyTrajectory",
    "Chain",
    "Constrained",
    "Event",
    "Hamiltonian",
    "InputError",
    "Interrupted",
    "OpenChain",
    "Result",
    "RigidBody",
    "SimulationError",
    "Solution",
    "State",
    "System",
    "Trajectory",
    "Units",
    "__version__",
    "analysis",
    "control",
    "coordinates",
    "core",
    "ends",
    "ensemble",
    "equations",
    "formulate",
    "freedom",
    "integrators",
    "io",
    "joints",
    "kernels",
    "library",
    "load",
    "loads",
    "model",
    "papers",
    "potentials",
    "register",
    "rotation",
    "shapes",
    "simulate",
    "simulation",
    "solve",
    "solvers",
    "viz",
]


__getattr__, __dir__ = lazy(
    __name__,
    {
        "ODE Constrained Hamiltonian InputError Result State": ".core",
        "Chain OpenChain RigidBody System Units": ".model",
        "formulate": ".equations",
        "BodyTrajectory Event Interrupted SimulationError Solution Trajectory": ".simulation",
        "ensemble simulate solve": ".simulation",
        "load": ".io",
        "register": ".library",
    },
    {
        name: f".{name}"
        for name in (
            "analysis control coordinates core equations integrators io kernels library model papers "
            "rotation simulation solvers viz"
        ).split()
    }
    | {name: f".model.{name}" for name in ("ends", "freedom", "joints", "loads", "potentials", "shapes")},
)
