"""Random systems of joints along a tree, and the same as models of Pinocchio."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model.joints._site import frame_about

pin: Any = pytest.importorskip("pinocchio")

GRAVITY = (0.3, -0.5, -9.81)
SINGLE = ("Revolute", "Prismatic", "Screw", "Cylindrical")
FORWARD = ("Universal", "Planar", "Spherical")
ALL = SINGLE + FORWARD
PITCH = 0.7
TIP = (0.3, -0.2, 0.5), (0.6, 0.0, 0.8, 0.0)
"""Place and rotation of a frame on the last body."""


class Tree(NamedTuple):
    system: pt.System
    ends: list[tuple[int | None, int, bool]]
    """Inner and outer body of each joint, and whether the outer one is its second."""
    kinds: list[str]
    at: np.ndarray
    axes: np.ndarray
    places: np.ndarray
    rotations: np.ndarray
    floating: bool


def random_tree(
    seed: int, count: int, kinds: tuple[str, ...], *, floating: bool = False, serial: bool = False
):
    """A tree of bodies at random reference poses, with random kinds, places and directions of its joints."""
    draw = np.random.default_rng(seed)
    names = [f"b{i}" for i in range(count)]
    spread = draw.standard_normal((count, 3, 3))
    planar = spread @ np.swapaxes(spread, 1, 2) + 0.1 * np.eye(3)
    inertias = 0.1 * (np.trace(planar, axis1=1, axis2=2)[:, None, None] * np.eye(3) - planar)
    masses = draw.uniform(0.5, 2.0, count)
    places = draw.standard_normal((count, 3))
    quats = draw.standard_normal((count, 4))
    quats /= np.linalg.norm(quats, axis=1, keepdims=True)
    ends, joints, chosen = [], [], []
    at, axes = draw.standard_normal((count, 3)), draw.standard_normal((count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    for body in range(1 if floating else 0, count):
        known: list[int | None] = list(range(body)) if floating else [None, *range(body)]
        inner = known[-1] if serial else known[draw.integers(len(known))]
        kind = kinds[draw.integers(len(kinds))]
        forward = bool(kind in FORWARD or draw.random() < 0.7)
        pair = ["ground" if inner is None else names[inner], names[body]]
        further = {"pitch": PITCH} if kind == "Screw" else {}
        make: Any = getattr(pt.joints, kind)
        joints.append(
            make(*(pair if forward else pair[::-1]), at=at[body], axis=axes[body], name=f"j{body}", **further)
        )
        ends.append((inner, body, forward))
        chosen.append(kind)
    system = pt.System(
        [pt.RigidBody(m, J, name=n) for m, J, n in zip(masses, inertias, names, strict=True)],
        joints=joints,
        reference={n: (x, p) for n, x, p in zip(names, places, quats, strict=True)},
        potentials=[pt.potentials.UniformGravity(GRAVITY)],
        frames={"tip": (names[-1], *TIP)},
    )
    rotations = np.array([np.asarray(pt.rotation.to_matrix(jnp.asarray(p))) for p in quats])
    return Tree(system, ends, chosen, at, axes, places, rotations, floating)


def drawn(seed: int) -> Tree:
    """A chain or a tree of two to twelve joints of all kinds, every third one on a floating base."""
    draw = np.random.default_rng(1000 + seed)
    count, serial = int(draw.integers(2, 13)), bool(draw.random() < 0.3)
    return random_tree(seed, count, ALL, floating=seed % 3 == 0, serial=serial)


def pinocchio_model(tree: Tree) -> tuple[Any, dict[str, list[int]]]:
    """The tree in Pinocchio, depth first as it wants it, and its joints by the names of ours."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(GRAVITY), np.zeros(3))
    ours: dict[str, list[int]] = {}
    frames: dict[int | None, tuple[int, Any]] = {None: (0, pin.SE3.Identity())}
    if tree.floating:
        root = pin.SE3(tree.rotations[0], tree.places[0])
        frames[0] = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root"), root
        ours["b0"] = [frames[0][0]]
        _append(model, tree, 0, *frames[0])

    def grow(inner: int | None) -> None:
        for k, (own, body, forward) in enumerate(tree.ends):
            if own != inner:
                continue
            frame = pin.SE3(np.asarray(frame_about(tree.axes[body])), tree.at[body])
            joint, placement = frames[inner][0], frames[inner][1].actInv(frame)
            ours[f"j{body}"] = []
            for i, one in enumerate(_models(tree.kinds[k], 1.0 if forward else -1.0)):
                joint = model.addJoint(joint, one, placement, f"j{body}-{i}")
                ours[f"j{body}"].append(joint)
                placement = pin.SE3.Identity()
            frames[body] = joint, frame
            _append(model, tree, body, joint, frame)
            grow(body)

    grow(0 if tree.floating else None)
    last = len(tree.places) - 1
    tip = pin.SE3(tree.rotations[last], tree.places[last]) * pin.SE3(
        np.asarray(pt.rotation.to_matrix(jnp.array(TIP[1]))), np.array(TIP[0])
    )
    joint, frame = frames[last]
    model.addFrame(pin.Frame("tip", joint, 0, frame.actInv(tip), pin.FrameType.OP_FRAME))
    return model, ours


def _models(kind: str, side: float) -> list[Any]:
    z = np.array([0.0, 0.0, side])
    turn, slide = pin.JointModelRevoluteUnaligned(z), pin.JointModelPrismaticUnaligned(z)
    if kind == "Planar":
        return [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()]
    if kind == "Universal":
        return [pin.JointModelRX(), pin.JointModelRY()]
    return {
        "Revolute": [turn],
        "Prismatic": [slide],
        # A thread has the same hand from either side: the angle changes its sign, and so does the way.
        "Screw": [pin.JointModelHelicalUnaligned(z, PITCH / (2.0 * np.pi))],
        "Cylindrical": [slide, turn],
        "Spherical": [pin.JointModelSpherical()],
    }[kind]


def _append(model: Any, tree: Tree, body: int, joint: int, frame: Any) -> None:
    rigid = tree.system.bodies[body]
    own = frame.actInv(pin.SE3(tree.rotations[body], tree.places[body]))
    inertia = pin.Inertia(float(rigid.mass), np.zeros(3), np.asarray(rigid.inertia_matrix))
    model.appendBodyToJoint(joint, inertia, own)


class Pinocchio:
    """Pinocchio's answers in our coordinates."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self.model, ours = pinocchio_model(tree)
        self.data = self.model.createData()
        self.slots = pt.OpenChain(tree.system).slots
        joints = [[self.model.joints[joint] for joint in ours[slot.name]] for slot in self.slots]
        self.q_at = [[one.idx_q + i for one in own for i in range(one.nq)] for own in joints]
        self.v_at = np.array([one.idx_v + i for own in joints for one in own for i in range(one.nv)])

    def coordinates(self, q: np.ndarray) -> np.ndarray:
        """Ours in theirs: the scalar part of a quaternion last."""
        theirs = np.zeros(len(q))
        for slot, places in zip(self.slots, self.q_at, strict=True):
            own = np.array(q[slot.q[0] : slot.q[0] + slot.q[1]])
            if slot.ball:
                own[-4:] = np.roll(own[-4:], -1)
            theirs[places] = own
        return theirs

    def velocity_map(self, q: np.ndarray) -> np.ndarray:
        """Their velocity of one of ours: in another order, and that of a free body along its own axes."""
        whole = np.eye(len(self.v_at))
        if self.tree.floating:
            whole[:3, :3] = np.asarray(pt.rotation.to_matrix(jnp.asarray(q[3:7]))).T
        return whole[np.argsort(self.v_at)]

    def velocities(self, q, v, a) -> tuple[np.ndarray, np.ndarray]:
        """Their velocity and acceleration of ours."""
        A = self.velocity_map(q)
        theirs, rates = A @ v, A @ a
        if self.tree.floating:
            rates[:3] -= np.cross(v[3:6], theirs[:3])
        return theirs, rates

    def all(self, q, v, a) -> dict[str, np.ndarray]:
        """Metric, forces of inertia and gravity, inverse dynamics, and the motion of the tip."""
        p, A = self.coordinates(q), self.velocity_map(q)
        u, w = self.velocities(q, v, a)
        model, data = self.model, self.data
        upper = pin.crba(model, data, p)
        mass = np.triu(upper) + np.triu(upper, 1).T
        gravity = pin.computeGeneralizedGravity(model, data, p).copy()
        tau = pin.rnea(model, data, p, u, w).copy()
        tip = model.getFrameId("tip")
        pin.forwardKinematics(model, data, p, u, w)
        pin.computeJointJacobians(model, data, p)
        pin.updateFramePlacements(model, data)
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        return {
            "metric": A.T @ mass @ A,
            "gravity": A.T @ gravity,
            "inverse_dynamics": A.T @ tau,
            "place": data.oMf[tip].translation.copy(),
            "rotation": data.oMf[tip].rotation.copy(),
            "jacobian": pin.getFrameJacobian(model, data, tip, aligned).copy() @ A,
            "velocity": pin.getFrameVelocity(model, data, tip, aligned).vector.copy(),
            "acceleration": pin.getFrameClassicalAcceleration(model, data, tip, aligned).vector.copy(),
        }

    def forward(self, q, v, tau) -> np.ndarray:
        """Their articulated-body algorithm, as our acceleration."""
        A = self.velocity_map(q)
        u, drift = self.velocities(q, v, np.zeros(len(v)))
        w = pin.aba(self.model, self.data, self.coordinates(q), u, np.linalg.inv(A).T @ tau)
        return np.linalg.solve(A, w - drift)

    def symbols(self, q, size: int) -> np.ndarray:
        """Christoffel symbols of their forces of inertia, by polarisation of the quadratic form."""
        p, A = self.coordinates(q), self.velocity_map(q)
        rest = np.zeros(size)

        def quadratic(v):
            u, w = self.velocities(q, v, rest)
            return A.T @ (
                pin.rnea(self.model, self.data, p, u, w)
                - pin.computeGeneralizedGravity(self.model, self.data, p)
            )

        single = [quadratic(e) for e in np.eye(size)]
        pairs = [[quadratic(e + f) for f in np.eye(size)] for e in np.eye(size)]
        return np.array(
            [[0.5 * (pairs[a][b] - single[a] - single[b]) for b in range(size)] for a in range(size)]
        )
