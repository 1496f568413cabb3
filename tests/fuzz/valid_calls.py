"""Calls of public functions that make sense: what senseless ones are changed from."""

import inspect
from typing import Any

import numpy as np

import poinsot as pt

KEPLER, ARM, BARS = pt.library.kepler(), pt.library.two_link_arm(), pt.library.four_bar()
TOP = pt.library.gyro_top()
PENDULUM = pt.Constrained(V=lambda q: 9.81 * q[1], g=lambda q: (q @ q - 1.0)[None])
CHAIN, OPEN = pt.library.particle_chain(count=4), pt.OpenChain(ARM)
BODY = pt.RigidBody(1.0, (1.0, 1.1, 1.2), name="a")
HERE, MARKER = (0.0, 0.0, 0.0), pt.potentials.Marker("a")
PAIR = pt.potentials.LennardJones(1.0, 1.0)
SHORT = {"t1": 0.02, "dt": 0.01, "integrator": "rk4", "progress": False}
FEW = {"dt": 0.01, "steps": 2}
MANY = pt.State(q=np.ones((2, 2)), p=np.ones((2, 2)))
REST = np.zeros(2)

VALID: dict[str, tuple[Any, dict[str, Any]]] = {
    "simulate": (pt.simulate, {"problem": KEPLER, "state": KEPLER.start, **SHORT}),
    "simulate, adaptive": (
        pt.simulate,
        {
            "problem": KEPLER,
            "state": KEPLER.start,
            "t1": 0.1,
            "integrator": "dormand-prince853",
            "rtol": 1e-6,
            "atol": 1e-6,
            "progress": False,
        },
    ),
    "simulate, bodies": (
        pt.simulate,
        {"problem": TOP, "state": TOP.start, **SHORT, "coordinates": "quaternions", "form": "index0"},
    ),
    "solve": (pt.solve, {"problem": KEPLER, "integrator": "rk4", "state": KEPLER.start, **FEW}),
    "solve, constrained": (
        pt.solve,
        {"problem": PENDULUM, "integrator": "rattle", "state": pt.State(q=[1.0, 0.0], p=[0.0, 0.0]), **FEW},
    ),
    "ensemble": (
        pt.ensemble,
        {"problem": KEPLER, "integrator": "rk4", "states": MANY, **FEW, "progress": False},
    ),
    "formulate": (pt.formulate, {"system": TOP, "coordinates": "quaternions", "form": "index0"}),
    "Event": (pt.Event, {"function": lambda q, p: q[0], "direction": 1}),
    "State": (pt.State, {"q": [1.0], "p": [2.0]}),
    "ODE": (
        pt.ODE,
        {"f": lambda y: -y, "params": 1.0, "invariants": {"y": lambda y: y[0]}, "vectorised": False},
    ),
    "Hamiltonian": (pt.Hamiltonian, {"H": lambda q, p: 0.5 * p @ p, "params": None, "force": lambda q, p: q}),
    "Hamiltonian, separable": (pt.Hamiltonian, {"T": lambda p: 0.5 * p @ p, "V": lambda q: q @ q}),
    "Constrained": (pt.Constrained, {"V": lambda q: q[0], "g": lambda q: q, "mass": 1.0}),
    "RigidBody": (
        pt.RigidBody,
        {"mass": 1.0, "inertia": (1.0, 1.1, 1.2), "name": "a", "centre": HERE, "light": False},
    ),
    "particles": (
        pt.RigidBody.from_particles,
        {"masses": [1.0, 1.0, 2.0], "points": np.eye(3), "name": "b"},
    ),
    "System": (
        pt.System,
        {
            "bodies": [BODY],
            "freedom": pt.freedom.FixedPoint((0, 0, 1)),
            "potentials": [],
            "loads": [],
            "params": None,
            "invariants": None,
            "joints": (),
            "frames": None,
            "name": "s",
        },
    ),
    "Chain": (
        pt.Chain,
        {
            "body": pt.shapes.tetrahedron(1.0),
            "count": 4,
            "spacing": 2.0,
            "potential": PAIR,
            "ends": "free",
            "neighbours": 1,
            "name": "c",
        },
    ),
    "Units": (pt.Units, {"length": 1.0, "mass": 2.0, "time": 3.0}),
    "OpenChain": (pt.OpenChain, {"system": ARM, "cut": False}),
    "OpenChain.pose": (OPEN.pose, {"q": REST, "frame": "hand"}),
    "OpenChain.jacobian": (OPEN.jacobian, {"q": REST, "frame": "hand"}),
    "OpenChain.forward_dynamics": (OPEN.forward_dynamics, {"q": REST, "v": REST, "tau": REST, "t": 0.0}),
    "OpenChain.inverse_dynamics": (OPEN.inverse_dynamics, {"q": REST, "v": REST, "a": REST, "t": 0.0}),
    "OpenChain.coordinates": (OPEN.coordinates, {"values": {"shoulder": 0.1}}),
    "system.state": (
        TOP.state,
        {"rotation": (1.0, 0.0, 0.0, 0.0), "angular_velocity": HERE, "normalise": False, "t": 0.0},
    ),
    "system.assemble": (
        BARS.assemble,
        {"near": BARS.start, "t": 0.0, "coordinates": {"A": 1.0}, "velocity": {"A": 1.0}},
    ),
    "system.joint_state": (ARM.joint_state, {"coordinates": {"shoulder": 0.1}}),
    "system.mobility": (BARS.mobility, {"state": BARS.start, "t": 0.0}),
    "equilibrium": (
        pt.analysis.equilibrium,
        {"system": ARM, "start": ARM.start, "starts": 1, "seed": 0, "steps": 2},
    ),
    "reversibility": (
        pt.analysis.reversibility,
        {"problem": KEPLER, "integrator": "verlet", "state": KEPLER.start, "h": 0.01},
    ),
    "order_estimate": (
        pt.analysis.order_estimate,
        {"problem": KEPLER, "integrator": "rk4", "state": KEPLER.start, "t1": 0.1, "steps": (4, 8, 16)},
    ),
    "lyapunov": (
        pt.analysis.lyapunov,
        {"problem": KEPLER, "integrator": "rk4", "state": KEPLER.start, "t1": 0.1, "dt": 0.01, "every": 5},
    ),
    "invariant_deviations": (
        pt.analysis.invariant_deviations,
        {"problem": KEPLER, "integrator": "rk4", "state": KEPLER.start, "dt": 0.01, "steps": 4},
    ),
    "drift_exponent": (pt.analysis.drift_exponent, {"t": np.arange(1.0, 30.0), "size": np.arange(1.0, 30.0)}),
    "register": (pt.register, {"kind": "system", "name": "taken-name", "maker": None}),
    "integrators.by_name": (pt.integrators.by_name, {"name": "rk4"}),
    "load": (pt.load, {"path": "none.zarr"}),
    "load_scenario": (pt.io.load_scenario, {"path": "none.toml"}),
    "read_urdf": (
        pt.io.read_urdf,
        {"path": "none.urdf", "floating": False, "gravity": HERE, "damping": False},
    ),
    "read_mjcf": (pt.io.read_mjcf, {"path": "none.xml", "geometry": True}),
    "box": (pt.shapes.box, {"size": (1.0, 2.0, 3.0), "mass": 1.0, "name": "b"}),
    "cone": (pt.shapes.cone, {"radius": 1.0, "height": 2.0, "density": 1.0}),
    "cone_tip": (pt.shapes.cone_tip, {"height": 1.0}),
    "rod": (pt.shapes.rod, {"length": 1.0, "radius": 0.1, "mass": 1.0}),
    "disc": (pt.shapes.disc, {"radius": 1.0, "mass": 1.0}),
    "tetrahedron": (pt.shapes.tetrahedron, {"a": 1.0}),
    "about_axis": (pt.rotation.about_axis, {"axis": (1.0, 0.0, 0.0), "angle": 0.1}),
    "about_x": (pt.rotation.about_x, {"angle": 0.1}),
    "euler": (pt.rotation.euler, {"sequence": "zxz", "angles": (0.1, 0.2, 0.3)}),
    "exp": (pt.rotation.exp, {"xi": np.array([0.1, 0.2, 0.3])}),
    "log": (pt.rotation.log, {"rot": np.eye(3)}),
    "to_matrix": (pt.rotation.to_matrix, {"quat": np.array([1.0, 0.0, 0.0, 0.0])}),
    "nearest_rotation": (pt.rotation.nearest_rotation, {"matrix": np.eye(3)}),
    "Revolute": (
        pt.joints.Revolute,
        {
            "first": "ground",
            "second": "a",
            "at": HERE,
            "axis": (0, 0, 1),
            "limits": (-1, 1),
            "largest_effort": 1.0,
            "largest_velocity": 1.0,
            "name": "h",
        },
    ),
    "Distance": (
        pt.joints.Distance,
        {"first": "ground", "second": "a", "length": 1.0, "at_first": HERE, "at_second": HERE},
    ),
    "Screw": (pt.joints.Screw, {"first": "ground", "second": "a", "pitch": 1.0, "at": HERE}),
    "Drive": (pt.joints.Drive, {"joint": "h", "function": lambda t: t, "coordinate": None, "name": "d"}),
    "Coupling": (
        pt.joints.Coupling,
        {
            "first": "g",
            "second": "h",
            "weights": (1, 2),
            "offset": 0.0,
            "coordinates": (None, None),
            "about": None,
        },
    ),
    "Damper": (pt.loads.Damper, {"first": HERE, "second": MARKER, "damping": 1.0, "active": False}),
    "LinearDamping": (
        pt.loads.LinearDamping,
        {"translational": 1.0, "rotational": (1, 1, 1), "bodies": ["a"]},
    ),
    "JointDamper": (
        pt.loads.JointDamper,
        {"joint": "h", "damping": 1.0, "coordinate": None, "active": False},
    ),
    "JointTorque": (pt.loads.JointTorque, {"joint": "h", "torque": 1.0, "coordinate": None, "params": None}),
    "Force": (pt.loads.Force, {"force": HERE, "point": HERE, "frame": "body", "body": "a", "params": None}),
    "Torque": (pt.loads.Torque, {"torque": HERE, "frame": "space", "body": "a"}),
    "Spring": (pt.potentials.Spring, {"first": HERE, "second": MARKER, "stiffness": 1.0, "rest_length": 1.0}),
    "JointSpring": (pt.potentials.JointSpring, {"joint": "h", "stiffness": 1.0, "rest": 0.0}),
    "LinearBushing": (pt.potentials.LinearBushing, {"first": HERE, "second": MARKER, "stiffness": (1, 1, 1)}),
    "Marker": (pt.potentials.Marker, {"body": "a", "point": HERE, "rotation": None}),
    "LennardJones": (pt.potentials.LennardJones, {"epsilon": 1.0, "sigma": 1.0}),
    "Morse": (pt.potentials.Morse, {"depth": 1.0, "width": 1.0, "length": 1.0}),
    "Coulomb": (pt.potentials.Coulomb, {"strength": 1.0}),
    "HarmonicPair": (pt.potentials.HarmonicPair, {"stiffness": 1.0, "length": 1.0}),
    "Cutoff": (pt.potentials.Cutoff, {"pair": PAIR, "radius": 2.0, "smooth": 1}),
    "Between": (pt.potentials.Between, {"pair": PAIR, "bodies": ["a", "b"]}),
    "GayBerne": (pt.potentials.GayBerne, {"epsilon": 1.0, "sigma": 1.0, "kappa": 3.0, "axis": 2}),
    "UniformGravity": (pt.potentials.UniformGravity, {"acceleration": HERE, "bodies": ["a"]}),
    "ConstantForce": (pt.potentials.ConstantForce, {"force": HERE, "point": HERE, "body": "a"}),
    "HeavyTop": (pt.potentials.HeavyTop, {"mgl": 1.0, "axis": (0, 0, 1), "up": (0, 0, 1), "body": "a"}),
    "Field": (pt.potentials.Field, {"function": lambda x, R: x[0], "params": None, "bodies": ["a"]}),
    "FixedPoint": (pt.freedom.FixedPoint, {"point": HERE}),
    "quaternions": (pt.coordinates.Quaternions, {"sigma": 1.0, "I0": None}),
    "directors": (pt.coordinates.Directors, {"sigma": None, "constraints": "rows", "projection": "nearest"}),
    "euler angles": (pt.coordinates.EulerAngles, {"sequence": "xyz", "margin": 0.01}),
    "group": (pt.coordinates.Group, {"element": "matrix"}),
    "GaussLegendre": (
        pt.integrators.GaussLegendre,
        {"stages": 2, "solver": pt.integrators.FixedPoint(), "compensated": False},
    ),
    "LobattoIIIAB": (pt.integrators.LobattoIIIAB, {"stages": 3, "solver": pt.integrators.FixedPoint()}),
    "Spark": (pt.integrators.ConstrainedGauss, {"stages": 2}),
    "Composition": (
        pt.integrators.Composition,
        {"base": pt.integrators.Rattle(), "scheme": "suzuki4", "adjoint": None},
    ),
    "Splitting": (pt.integrators.Splitting, {"scheme": "strang", "first": "V"}),
    "StormerVerlet": (pt.integrators.StormerVerlet, {"form": "pqp"}),
    "GeneralizedAlpha": (pt.integrators.GeneralizedAlpha, {"rho": 0.5}),
    "FixedPointSolver": (
        pt.integrators.FixedPoint,
        {"tolerance": 0.01, "max_iterations": 10, "look_every": 1},
    ),
    "DormandPrince8": (
        pt.integrators.DormandPrince8,
        {"first_step": 0.1, "max_step": 1.0, "projection": "both"},
    ),
    "Taylor": (pt.integrators.Taylor, {"precision": "double", "dense": True, "projection": False}),
    "ReversibleSteps": (
        pt.integrators.ReversibleSteps,
        {"integrator": pt.integrators.Rattle(), "monitor": None},
    ),
    "PDGravity": (
        pt.control.PDGravity,
        {"chain": OPEN, "kp": 1.0, "kd": 1.0, "reference": REST, "joints": None},
    ),
    "quintic": (pt.control.quintic, {"q0": REST, "q1": REST + 1.0, "duration": 1.0, "begin": 0.0}),
}
for _name in pt.library.names():
    _maker = pt.library.REGISTRY[_name]
    _given = {
        key: one.default
        for key, one in inspect.signature(_maker).parameters.items()
        if one.default is not one.empty
    }
    if _given and _name not in ("seven-axis-arm", "scara", "quadruped"):
        _given |= {
            "free-body": {"inertia": (1.0, 1.1, 1.2)},
            "heavy-top": {"inertia": (1, 1, 1), "mgl": 1.0},
        }.get(_name, {})
        VALID[f"library {_name}"] = (_maker, _given)
