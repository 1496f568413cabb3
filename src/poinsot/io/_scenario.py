"""Scenario files: a run written down in TOML, checked before anything is computed."""

from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from poinsot.core import InputError, checked
from poinsot.io._body_sections import BodySection, EquationsSection, Named, StartSection
from poinsot.io._joint_sections import AssemblySection, CouplingSection, DriveSection, JointSection
from poinsot.io._scenario_errors import explain
from poinsot.io._sections import (
    IntegratorSection,
    OutputSection,
    RobotSection,
    RunSection,
    Section,
    SystemSection,
)
from poinsot.io._setup import Setup, setup_of
from poinsot.io._toml import read_toml
from poinsot.simulation import Interrupted, SimulationError, Trajectory, simulate


class Scenario(Section):
    """A run written down: a system, its start, an integrator, the times, the outputs.

    ```toml
    [system]
    name = "kepler"             # `poinsot systems` lists them
    parameters = { eccentricity = 0.6 }     # the system's own defaults for those left out

    [start]                     # optional: the system's own start if left out
    q = [0.4, 0.0]              # positions and momenta of a Hamiltonian system,
    p = [0.0, 2.0]              # or y = [...] for an ordinary differential equation

    [integrator]
    name = "gauss6"             # `poinsot methods` lists them
    compensated = true          # optional: compensated summation, where the integrator offers it
    solver = "fixed-point"      # optional: or "newton", where the integrator solves stage equations
    tolerance = 0.0             # optional: error at which it stops, in units of round-off
    max_iterations = 50         # optional: after how many iterations it gives up

    [run]
    t1 = 1000.0                 # end
    dt = 0.05                   # step, unless the integrator chooses it; negative for a backward run
    t0 = 0.0                    # optional: start
    save_every = 10             # optional: keep each tenth state; all are kept if left out
    save_at = [10.0, 20.5]      # optional, instead of save_every: keep the states at these times
    last_step = "refuse"        # optional: or "shorten", when t1 - t0 is not a whole number of steps

    [run.stop]                  # optional: end where a component passes a value, located to round-off
    component = "q[1]"
    value = 0.0                 # optional
    direction = "up"            # optional: or "down"; both if left out

    [output]                    # optional: read by `poinsot run`
    folder = "runs/kepler"      # optional: relative to where the command runs; --out goes before it
    store = true                # optional: write trajectory.zarr
    pictures = true             # optional: write pictures
    ```

    An adaptive solver chooses its steps: `dt` is left out, and `[integrator]` has other keys.

    ```toml
    [system]
    name = "gyro-top"

    [integrator]
    name = "dormand-prince853"  # `poinsot methods` lists them
    rtol = 1e-9                 # optional: relative tolerance
    atol = 1e-9                 # optional: absolute tolerance
    first_step = 0.01           # optional: chosen if left out
    max_step = 1.0              # optional: any if left out
    projection = true           # optional: or "position", "velocity"; onto constraints, after each step

    [run]
    t1 = 10.0
    ```

    For a rigid body of the library the start has other keys, and there is more to choose. A rotation is one
    of `{ euler = "zxz", angles = [...] }`, `{ axis = [...], angle = ... }`, each with `unit = "degrees"` if
    you like, `{ quaternion = [w, x, y, z] }` and `{ matrix = [[...], ...] }`, each with `normalise = true` if
    it has few digits. What `[start]` leaves out is zero, or follows from the freedom of the body.

    ```toml
    [system]
    name = "free-body"
    parameters = { inertia = [0.9, 1.1, 1.7], mass = 2.0 }

    [start]
    position = [0.0, 0.0, 0.0]          # of the mass centre; follows from the rotation of a "heavy-top"
    rotation = { axis = [1.0, 0.0, 0.0], angle = 60.0, unit = "degrees" }
    velocity = [0.0, 0.0, 0.0]          # likewise
    angular_velocity = [0.0, 0.0, 20.0]     # in the body frame

    [coordinates]               # optional: chosen to fit the integrator if left out
    name = "quaternions"        # or "directors", "euler-angles", "group"
    sigma = 10.0                # options as in `pt.coordinates`

    [equations]                 # optional: likewise
    form = "index0"             # or "hamiltonian", "index3", "index2", "index1", "null_space", "group"

    [integrator]
    name = "gauss6"

    [run]
    t1 = 10.0
    dt = 0.01
    stop = { component = "position[0,2]" }      # of body 0 the height; any part of the motion
    ```

    A chain of bodies has the arguments of `pt.library.particle_chain` as parameters.

    ```toml
    [system]
    name = "particle-chain"

    [system.parameters]         # all optional
    count = 8
    spacing = 2.0
    neighbours = 1
    body = { shape = "tetrahedron", a = 1.0 }       # or "two-rim-disc", or { masses = [...], points = [...] }
    potential = { name = "lennard-jones", epsilon = 5.0, sigma = 1.0 }      # or a list of such tables
    ends = ["clamped", { kind = "force", force = [3.0, 0.0, 0.0] }]         # or "ring", "periodic"

    [start]                     # optional: straight and at rest if left out
    velocity_scale = 0.05       # straight with random velocities of this size
    seed = 0                    # optional

    [integrator]
    name = "gauss6"

    [run]
    t1 = 50.0
    dt = 0.002
    ```

    The names of potentials are `lennard-jones`, `morse`, `coulomb`, `screened-coulomb`, `harmonic-pair`,
    `gay-berne`, and `cutoff` with `pair = { name = ... }` and `radius`; an end is `"free"`, `"clamped"`, or a
    table of kind `force`, `displaced` (with `position`) or `clamped` (with `position` and `rotation`).
    Instead of `velocity_scale` and `seed`, `[start]` may have lists with a row for each body: `position`,
    `velocity`, `angular_velocity` of three numbers each, `rotation` of quaternions.

    Bodies of your own, in place of `[system]` and `[start]`. Potentials and loads may also be added to those
    of the library, chains too, whose bodies are body0, body1, ...; their keys are the arguments in
    `pt.potentials` and `pt.loads`, bodies by name. A potential of two particles or two poses acts between the
    `bodies` it names, two or more, or between all.

    ```toml
    [[bodies]]
    name = "rotor"
    mass = 2.0                          # or density, for a solid
    inertia = [0.3, 0.3, 0.2]           # about the mass centre: principal moments, or a 3x3 matrix
    freedom = { name = "fixed-point", point = [0.0, 0.0, -0.1] }   # or "free", "translation", "clamped"
    start = { angular_velocity = [0.0, 1.0, 30.0] }     # keys as in [start] above

    [[bodies]]
    name = "ball"
    density = 800.0
    shape = { name = "sphere", radius = 0.1 }   # or "box", "ellipsoid", "cylinder", "cone", "disc"; without
                                        # mass and density "tetrahedron", "two-rim-disc", "particles"

    [[potentials]]
    name = "spring"
    first = { body = "rotor", point = [0.0, 0.0, 0.1] }
    second = { body = "ball" }
    stiffness = 40.0

    [[potentials]]
    name = "lennard-jones"              # or another of the names for chains
    epsilon = 0.1
    sigma = 0.2
    bodies = ["rotor", "ball"]          # optional: all bodies if left out

    [[loads]]
    name = "linear-damping"
    rotational = 0.01
    bodies = ["rotor"]

    [integrator]
    name = "gauss6"

    [run]
    t1 = 10.0
    dt = 0.01
    ```

    Joints between the bodies of the file make a mechanism of them. The keys of a joint are the arguments of
    its kind in `pt.joints`: bodies by name, or "ground", and where it is.

    ```toml
    title = "crank"             # optional: what reports call the system

    [[bodies]]
    name = "wheel"
    mass = 1.0
    inertia = [0.1, 0.1, 0.2]
    reference = { position = [1.0, 0.0, 0.0] }  # optional: pose, as in start, for places of joints in space

    [[bodies]]
    name = "arm"
    mass = 1.0
    inertia = [0.01, 0.1, 0.1]

    [[joints]]
    kind = "revolute"           # or "spherical", "prismatic", "cylindrical", "planar", "screw", "universal",
    name = "axle"               # "fixed", "distance", "point-on-line", "point-on-plane"
    first = "ground"
    second = "wheel"
    at = [1.0, 0.0, 0.0]        # in space, or at_first and at_second in the bodies
    axis = [0.0, 0.0, 1.0]      # optional: likewise, or axis_first and axis_second; z if left out

    [[joints]]
    kind = "revolute"
    name = "pin"
    first = "wheel"
    second = "arm"
    at_first = [0.5, 0.0, 0.0]
    at_second = [-0.5, 0.0, 0.0]

    [[drives]]                  # offset + rate t + amplitude sin(angular_frequency t + phase)
    joint = "axle"
    offset = 0.0                # all of these are optional: zero if left out
    rate = 2.0
    amplitude = 0.1
    angular_frequency = 3.0
    phase = 0.0
    coordinate = "angle"        # optional where the joint has one
    name = "motor"              # optional

    [[couplings]]               # weights[0] c1 + weights[1] c2 = offset
    first = "axle"
    second = "pin"
    weights = [1, 2]            # of two angles whole numbers, such as teeth of gears, or any with about
    offset = 0.0                # optional
    about = 0.0                 # optional: the middle of the angles of a second that does not turn round
    coordinates = ["angle", "angle"]    # optional where each joint has one
    name = "gears"              # optional

    [assembly]                  # optional: close the joints; bodies without a start follow from the others
    coordinates = { pin = 0.0 } # optional: of joints, or { pin = { angle = 0.3 } } where there are several
    velocity = { pin = -1.15 }  # optional: their rates

    [integrator]
    name = "lie-rattle"

    [run]
    t1 = 10.0
    dt = 0.01
    ```

    A robot of a file stands in place of `[system]`: of a URDF file, or of an MJCF file of MuJoCo, `.xml`,
    which itself says what the three optional keys say. It starts from coordinates and rates of its joints, as
    systems of the library with joints may do too; what is left out is zero.

    ```toml
    [robot]
    file = "arm.urdf"           # beside the scenario
    floating = false            # optional: whether the root moves freely
    gravity = [0.0, 0.0, -9.81] # optional
    damping = false             # optional: whether the damping of joints acts

    [start]                     # optional
    coordinates = { shoulder = 0.5, elbow = -1.0 }
    rates = { elbow = 2.0 }

    [coordinates]
    name = "joint"

    [integrator]
    name = "gauss4"

    [run]
    t1 = 10.0
    dt = 0.01
    ```

    Systems with joints may have a controller. Its keys are the arguments of its kind in `pt.control`; gains
    are one number for all joints, or a list in the order of the joints.

    ```toml
    [robot]
    file = "arm.urdf"

    [control]
    name = "computed-torque"    # or "pd-gravity", which may have joints = ["shoulder"]
    kp = 100.0
    kd = 20.0
    period = 0.01               # optional: sampled so often, and held between samples

    [control.reference]         # from the start of the run; or coordinates to hold, { shoulder = 0.8 }
    name = "quintic"            # or "trapezoidal", with speed and acceleration in place of duration
    to = { shoulder = 0.8, elbow = -1.2 }
    duration = 2.0
    begin = 0.5                 # optional
    from = { shoulder = 0.5 }   # optional: the start if left out

    [coordinates]
    name = "joint"

    [integrator]
    name = "gauss4"

    [run]
    t1 = 3.0
    dt = 0.01
    ```

    About an equilibrium:

    ```toml
    [system]
    name = "cart-pole"

    [control]
    name = "lqr"
    target = { hinge = 0.0 }    # the others at zero
    Q = [1.0, 10.0, 1.0, 1.0]   # optional: weights of coordinates and rates; R likewise, of forces
    joints = ["rails"]          # optional: all joints

    [coordinates]
    name = "joint"

    [integrator]
    name = "gauss4"

    [run]
    t1 = 10.0
    dt = 0.01
    ```
    """

    title: str | None = Field(default=None, min_length=1)
    system: SystemSection | None = None
    robot: RobotSection | None = None
    bodies: list[BodySection] | None = None
    joints: list[JointSection] | None = None
    drives: list[DriveSection] | None = None
    couplings: list[CouplingSection] | None = None
    assembly: AssemblySection | None = None
    start: StartSection | None = None
    potentials: list[Named] | None = None
    loads: list[Named] | None = None
    control: Named | None = None
    coordinates: Named | None = None
    equations: EquationsSection | None = None
    integrator: IntegratorSection
    times: RunSection = Field(alias="run")
    output: OutputSection = Field(default_factory=OutputSection)

    @model_validator(mode="after")
    def _can_be_built(self) -> "Scenario":
        kinds = {"[system]": self.system, "[robot]": self.robot, "[[bodies]]": self.bodies or None}
        given = [name for name, table in kinds.items() if table is not None]
        if not given:
            raise ValueError("the file has neither [system] nor [[bodies]] nor [robot]; it needs one of them")
        if len(given) > 1:
            raise ValueError(f"the file has both {given[0]} and {given[1]}; it needs one of them")
        if self.bodies and self.start is not None:
            raise ValueError("the file has [start] beside [[bodies]]; write start = { ... } with each body")
        for table in ("joints", "drives", "couplings", "assembly"):
            if not self.bodies and getattr(self, table) is not None:
                raise ValueError(
                    f"the file has {table} beside {given[0]}; they are for [[bodies]] of the file"
                )
        _ = self.setup  # To be valid is to be built.
        return self

    def run(self, progress: bool | None = None) -> Trajectory:
        """Carry it out; the trajectory keeps the scenario in its attributes.

        Args:
            progress: show a progress bar; by default on a terminal.

        Raises:
            InputError: on values that do not fit the system, before anything is computed.
            SimulationError: when a step fails; its `trajectory` holds what was computed.
            Interrupted: on Ctrl-C; likewise.
        """
        setup, times = self.setup, self.times
        scenario = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        record = setup.record | {"scenario": scenario}
        try:
            trajectory = simulate(
                setup.system,
                setup.start,
                t0=times.t0,
                t1=times.t1,
                dt=times.dt,
                rtol=self.integrator.rtol,
                atol=self.integrator.atol,
                integrator=setup.integrator,
                save_every=times.save_every or 1,
                save_at=times.save_at,
                stop=setup.stop,
                last_step=times.last_step,
                progress=progress,
                control=setup.control,
                **setup.choices,
            )
        except (SimulationError, Interrupted) as failure:
            failure.trajectory.attributes.update(record)
            raise
        trajectory.attributes.update(record)
        return trajectory

    @cached_property
    def setup(self) -> Setup:
        """What is run, and from where. It is built once, when the scenario is checked."""
        return setup_of(self)


@checked
def load_scenario(path: str | Path) -> Scenario:
    """Read and check a scenario file; `Scenario` explains its keys.

    Raises:
        InputError: if it cannot be read, is not TOML, or has wrong keys or values; names the place.
    """
    text, content = read_toml(path)
    _find_beside(content, Path(path).parent)
    try:
        return Scenario.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}{explain(error, Scenario, text)}") from None


def _find_beside(content: dict[str, Any], folder: Path) -> None:
    """Let the file of a robot be one beside the scenario."""
    robot = content.get("robot")
    if isinstance(robot, dict) and isinstance(robot.get("file"), str) and robot["file"]:
        robot["file"] = str(folder / robot["file"])
