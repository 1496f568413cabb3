"""What one waits for: processor seconds of whole processes, from the command to its result.

Each work runs in processes of its own: the first with empty caches, the second with those of the first.
Prints a row for each process: processor seconds in all, until the report stands there, and how they divide. A
part is without what lies within it and has a column of its own. Run with nothing else going on.

    python benchmarks/waiting.py                       all works
    python benchmarks/waiting.py four_bar readme-top   some of them
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PARTS = ("jax", "import", "trace", "text", "LLVM", "XLA", "report", "store", "draw", "rest")
"""Columns: imports of JAX with Equinox, and of all else; tracing and lowering; LLVM text written; compiled or
linked; XLA; what is left of judging, storing and drawing without these; and the rest, steps among it."""
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.toml"))
OTHERS = {
    "stewart": """
system = pt.library.stewart_platform()
run = pt.simulate(system, system.start, t1=0.1, dt=1e-3, coordinates="group", integrator="lie-rattle")
""",
    "particles": """
chain = pt.library.particle_chain(count=200)
start = chain.straight_state(velocity_scale=0.05, seed=0)
run = pt.simulate(chain, start, t1=0.1, dt=0.002, coordinates="group", integrator="lie-splitting")
""",
    "gradient": """
import jax

arm = pt.library.two_link_arm()
formulation = pt.formulate(arm, pt.coordinates.Joint(), "recursive")
problem, y0 = formulation.problem, formulation.start(arm.start)


def end(scale):
    y = jax.tree.map(lambda leaf: scale * leaf, y0)
    solution = pt.solve(problem, pt.integrators.RK4(), y, dt=1e-3, steps=400)
    return sum(leaf.sum() for leaf in jax.tree.leaves(solution.state))


print(jax.grad(end)(1.0))
""",
}
"""Programs beside the examples and those of the README."""


def programs() -> dict[str, str]:
    """Source of each work that is a program: what README.md shows, with the report printed, and some more."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names = ("readme-top", "readme-chain", "readme-rods", "readme-kepler")
    shown = dict(zip(names, (block for block in blocks if "simulate" in block), strict=True))
    whole = {}
    for name, text in (shown | OTHERS).items():
        ended = re.search(r"run.report\(|jax.grad", text)
        whole[name] = f"import poinsot as pt\n{text}" + ("" if ended else "\nprint(run.report())\n")
    return whole


class Clock:
    """Processor time of this process by kind of work: each kind without what is begun within it."""

    def __init__(self):
        self.seconds: dict[str, float] = defaultdict(float)
        self.counts: Counter[str] = Counter()
        self._stack, self._since = ["rest"], 0.0

    def begin(self, kind: str) -> None:
        """What comes now is of this kind, until `end`."""
        self._note()
        self.counts[kind] += kind != self._stack[-1]
        self._stack.append(kind)

    def end(self) -> None:
        """What comes now is of the kind from before `begin`."""
        self._note()
        self._stack.pop()

    def _note(self) -> None:
        now = time.process_time()
        self.seconds[self._stack[-1]] += now - self._since
        self._since = now

    def around(self, place: Any, name: str, kind: str) -> None:
        """Count calls of a function, an attribute of a module or class, as this kind."""
        function = getattr(place, name)

        def timed(*args, **kwargs):
            self.begin(kind)
            try:
                return function(*args, **kwargs)
            finally:
                self.end()

        setattr(place, name, timed)


def inside(work: str) -> None:
    """One work in this process, with its clock; the last line of the output is its times."""
    clock, until = Clock(), [0.0]

    def stands(function: Callable) -> Callable:
        """A function that notes when it was done for the first time."""

        def noted(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            finally:
                until[0] = until[0] or time.process_time()

        return noted

    def reports(place: Any) -> None:
        clock.around(place, "report", "report")
        place.report = stands(place.report)
        clock.around(place, "save", "store")

    # Watched once they are loaded, since what is loaded is part of what is measured.
    watched = {
        "poinsot.kernels.native._program": lambda module: [
            clock.around(module.NativeProgram, "of_trace", "text"),
            clock.around(module, "object_code", "LLVM"),
            clock.around(module, "Linked", "LLVM"),
        ],
        "poinsot.simulation._trajectory": lambda module: reports(module.Trajectory),
        "poinsot.viz._trajectory_plots": lambda module: clock.around(
            module.TrajectoryPlots, "save_all", "draw"
        ),
        "jax.monitoring": lambda module: _follow(module, clock),
    }
    bootstrap: Any = sys.modules["_frozen_importlib"]
    loading = bootstrap._find_and_load

    def load(name: str, run: Any) -> Any:
        clock.begin("jax" if name.split(".")[0] in ("jax", "equinox") else "import")
        try:
            return loading(name, run)
        finally:
            clock.end()
            if name in watched and name in sys.modules:
                watched.pop(name)(sys.modules[name])

    bootstrap._find_and_load = load
    try:
        if work in EXAMPLES:
            from poinsot.cli import main

            with tempfile.TemporaryDirectory() as folder:
                sys.argv = ["poinsot", "run", str(ROOT / "examples" / f"{work}.toml"), "--out", folder]
                main()
        else:
            exec(compile(programs()[work], work, "exec"), {"__name__": "__main__"})
    except SystemExit as left:
        if left.code:
            raise
    clock.begin("rest")
    total = time.process_time()
    seconds = {part: round(clock.seconds[part], 3) for part in PARTS}
    counts = {"XLA": clock.counts["XLA"], "native": clock.counts["text"], "modules": len(sys.modules)}
    print(json.dumps({"total": total, "report": until[0] or total, "seconds": seconds, "counts": counts}))


def _follow(monitoring: Any, clock: Clock) -> None:
    """Have what JAX traces, lowers and compiles counted."""
    kinds = {"jaxpr_trace": "trace", "jaxpr_to_mlir_module": "trace", "backend_compile": "XLA"}

    def kind_of(event: str) -> str | None:
        return kinds.get(event.removeprefix("/jax/core/compile/").removesuffix("_duration"))

    def begun(event: str, value: Any, **_) -> None:
        if (kind := kind_of(event)) is not None:
            clock.begin(kind)

    def ended(event: str, seconds: float, **_) -> None:
        if kind_of(event) is not None:
            clock.end()

    monitoring.register_scalar_listener(begun)
    monitoring.register_event_duration_secs_listener(ended)


def measured(work: str, folder: str) -> dict[str, Any]:
    """Times of one process."""
    # The user's own settings of caches and kernels play no part; bytecode is read.
    left = {"POINSOT_KERNEL", "PYTHONDONTWRITEBYTECODE", "JAX_COMPILATION_CACHE_DIR"}
    environment = {key: value for key, value in os.environ.items() if key not in left}
    environment["POINSOT_CACHE_DIR"] = folder
    command = [sys.executable, __file__, "--inside", work]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{work}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print the table."""
    names = [*EXAMPLES, *programs()]
    parser = argparse.ArgumentParser(description="Processor seconds of whole processes.")
    parser.add_argument(
        "works", nargs="*", metavar="WORK", help=f"some of {', '.join(names)}; all when left out"
    )
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(given.inside)
        return
    if unknown := set(given.works) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    columns = ("total", "report at", *PARTS, "XLA", "native", "modules")
    print(f"{'work':20s}{'process':>8s}", *(f"{column:>9s}" for column in columns), flush=True)
    for work in given.works or names:
        with tempfile.TemporaryDirectory() as folder:
            for process in ("first", "second"):
                found = measured(work, folder)
                times = (found["total"], found["report"], *found["seconds"].values())
                numbers = [
                    *(f"{one:9.2f}" for one in times),
                    *(f"{one:9d}" for one in found["counts"].values()),
                ]
                print(f"{work:20s}{process:>8s}", *numbers, flush=True)


if __name__ == "__main__":
    main()
