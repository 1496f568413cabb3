"""What people give a system, brought into order: names, freedom, potentials, loads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import (
    InputError,
    Use,
    UserFunction,
    as_array,
    check_uses,
    failure,
    known_names,
    on_device,
    quoted,
    user_function,
)

from ._checks import concrete
from ._params import check_filled, filled
from ._places import relocated
from ._rigid_body import DEFAULT_NAME, RigidBody
from ._roster import Roster
from ._rotations import as_quaternion, rotation_matrix
from .freedom import AbstractFreedom, Free, Guided, Prescribed
from .joints import AbstractCondition, AbstractJoint, Drive
from .joints._site import GROUND, Pose
from .loads import AbstractLoad
from .loads import Function as LoadFunction
from .potentials import (
    AbstractPair,
    AbstractPosePair,
    AbstractPotential,
    AbstractTerm,
    Between,
    OfInvariants,
)
from .potentials import Function as PotentialFunction

Term = TypeVar("Term", AbstractPotential, AbstractLoad, Guided)

TAKEN = (
    "energy",
    "p_x",
    "p_y",
    "p_z",
    "L_x",
    "L_y",
    "L_z",
    "constraint",
    "constraint rate",
    "joints",
    "joint rates",
)
"""Names of quantities that reports show by themselves."""


def named(bodies: Any) -> tuple[tuple[RigidBody, ...], tuple[str, ...]]:
    """The bodies, and a name for each; those without one of their own are numbered."""
    bodies = (bodies,) if isinstance(bodies, RigidBody) else tuple(bodies)
    if not bodies:
        raise InputError("bodies is empty; a system needs one body at least")
    for i, body in enumerate(bodies):
        if not isinstance(body, RigidBody):
            raise InputError(f"bodies[{i}] = {quoted(body)}; it must be a pt.RigidBody")
    numbered = len(bodies) > 1
    names = tuple(
        f"{DEFAULT_NAME}{i}" if numbered and body.name == DEFAULT_NAME else body.name
        for i, body in enumerate(bodies)
    )
    for i, name in enumerate(names):
        if name == GROUND:
            raise InputError(
                f"bodies[{i}] is called {GROUND!r}, the name of space for joints; give it another, "
                "RigidBody(..., name=...)"
            )
        if names.index(name) != i:
            raise InputError(
                f"bodies[{names.index(name)}] and bodies[{i}] are both called {quoted(name)}; "
                "give each a name of its own, RigidBody(..., name=...)"
            )
    return bodies, names


def with_freedom(freedom: Any, names: tuple[str, ...], params: Any) -> tuple[AbstractFreedom, ...]:
    """One freedom for each body."""
    if freedom is None:
        return tuple(Free() for _ in names)
    kinds = (freedom,) if isinstance(freedom, AbstractFreedom) else tuple(freedom)
    if len(kinds) != len(names):
        raise InputError(
            f"freedom has {len(kinds)} entries for {len(names)} bodies; give one for each, "
            "pt.freedom.Free() for those that move freely"
        )
    for name, kind in zip(names, kinds, strict=True):
        if not isinstance(kind, AbstractFreedom):
            raise InputError(f"freedom of {name!r} = {kind!r}; it must be one of pt.freedom, such as Free()")
        if isinstance(kind, Prescribed):
            _check_motion(kind, name, params)
        if isinstance(kind, Guided):
            _check_uses(f"freedom of {name!r}", [_whole(kind, params, f"path of {name!r}").path.use((3,))])
    if not any(kind.translates or kind.rotates for kind in kinds):
        raise InputError("freedom leaves no body that can move; there is nothing to simulate")
    return kinds


def as_potentials(terms: Any, roster: Roster, params: Any) -> tuple[AbstractPotential, ...]:
    """Potentials for these bodies: functions wrapped, bodies found, each tried on shapes."""
    bound = []
    for i, term in enumerate(_listed(terms, "potentials")):
        field = f"potentials[{i}]"
        with _named_field(field):
            term = relocated(_as_term(term), roster.place).of_bodies(roster)
        _check_places(term.bodies, roster.count, field)
        whole = _whole(term, params, field)
        energy = _tried(field, whole.energy, on_device(np.zeros(())), *_shapes(roster.count, (3,), (3, 3)))
        if getattr(energy, "shape", None) != () or not jnp.issubdtype(energy.dtype, jnp.floating):
            raise InputError(f"{field} returns {_said(energy)}; a potential energy must be one number")
        if isinstance(whole, OfInvariants):
            _check_degree(whole, roster.count, field)
        bound.append(term)
    return tuple(bound)


def as_loads(terms: Any, roster: Roster, params: Any) -> tuple[AbstractLoad, ...]:
    """Loads for these bodies: functions wrapped, bodies found, each tried on shapes."""
    checked = []
    count = roster.count
    for i, term in enumerate(_listed(terms, "loads")):
        field = f"loads[{i}]"
        if not isinstance(term, AbstractLoad) and not callable(term):
            raise InputError(
                f"{field} = {quoted(term)}; it must be one of pt.loads or a function f(t, x, R, v, Omega)"
            )
        with _named_field(field):
            term = term if isinstance(term, AbstractLoad) else LoadFunction(term)
            term = relocated(term, roster.place).of_bodies(roster)
        _check_places(term.bodies, count, field)
        shapes = _shapes(count, (3,), (3, 3), (3,), (3,))
        whole = _whole(term, params, field)
        _check_uses(field, whole.uses())
        wrench = _tried(field, whole.wrench, on_device(np.zeros(())), *shapes)
        if [getattr(part, "shape", None) for part in jax.tree.leaves(wrench)] != [(count, 3)] * 2:
            raise InputError(
                f"{field} returns {_said(wrench)}; it must return a force ({count}, 3) in space and a torque "
                f"({count}, 3) in the body frame"
            )
        checked.append(term)
    return tuple(checked)


def as_invariants(functions: Any) -> dict[str, UserFunction]:
    """Users' functions of the motion by name, to be called as `f(t, motion, params)`."""
    if functions is None:
        return {}
    if not isinstance(functions, Mapping):
        raise InputError(f"invariants = {quoted(functions)}; it must be a dictionary of functions by name")
    wrapped = {}
    for name, function in functions.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"invariants has the key {quoted(name)}; names of invariants are words")
        if name in TAKEN:
            raise InputError(
                f"invariants has the name {quoted(name)}, which reports use already; take another name"
            )
        try:
            wrapped[name] = user_function(function, ("motion",), f"invariant {name!r}")
        except TypeError as error:
            raise InputError(str(error)) from None
    return wrapped


def _as_term(term: Any) -> AbstractTerm:
    """A term from what people give: a function is one, and a pair potential one between all bodies."""
    if isinstance(term, AbstractTerm):
        return term
    if isinstance(term, (AbstractPair, AbstractPosePair)):
        return Between(term)
    if callable(term):
        return PotentialFunction(term)
    raise InputError(f"= {quoted(term)}; it must be one of pt.potentials or a function V(x, R)")


def _whole(term: Term, params: Any, field: str) -> Term:
    """The term with the parameters of the system in it."""
    if params is None:
        check_filled(term, field)
    return filled(term, params)


@contextmanager
def _named_field(field: str) -> Iterator[None]:
    """Say in an error where in the list it arose."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{field} {error}") from None


def as_joints(terms: Any, params: Any) -> tuple[AbstractCondition, ...]:
    """Joints, then drives and couplings, each with a name of its own."""
    given = tuple(_listed(terms, "joints"))
    for i, one in enumerate(given):
        if not isinstance(one, AbstractCondition):
            raise InputError(f"joints[{i}] = {quoted(one)}; it must be one of pt.joints")
    _check_names(given, AbstractJoint)
    joints = {one.name: one for one in given if isinstance(one, AbstractJoint)}
    others = [one for one in given if not isinstance(one, AbstractJoint)]
    for one in others:
        one.check(joints)
        if params is None:
            check_filled(one, one.label)
        check_uses(filled(one, params).uses(joints))
    _check_driven_once(given, joints)
    _check_names(given, AbstractCondition)
    return (*joints.values(), *others)


def _check_names(given: Sequence[AbstractCondition], kind: type[AbstractCondition]) -> None:
    """Refuse two of a kind that have one name."""
    known: dict[str, int] = {}
    for i, one in enumerate(given):
        first = known.setdefault(one.name, i) if isinstance(one, kind) else i
        if first != i:
            labels = f"joints[{first}], {given[first].label}, and joints[{i}], {given[i].label}"
            raise InputError(f"{labels}, have the same name; give each a name of its own, name=...")


def _check_driven_once(given: Sequence[AbstractCondition], joints: Mapping[str, AbstractJoint]) -> None:
    """Refuse two drives of one coordinate."""
    driven: dict[tuple[str, int], int] = {}
    for i, one in enumerate(given):
        if not isinstance(one, Drive):
            continue
        joint, place = joints[one.joint], one.place_in(joints[one.joint])
        first = driven.setdefault((one.joint, place), i)
        if first != i:
            labels = f"joints[{first}], {given[first].label}, and joints[{i}], {one.label}"
            what = f"{(joint.freedoms or ())[place]} of {joint.label}"
            raise InputError(f"{labels}, both drive the {what}; leave one of them out")


def as_poses(reference: Any, names: Sequence[str]) -> dict[str, Pose]:
    """Poses of some bodies, by name."""
    poses = {}
    for name, pose in reference.items():
        if name not in names:
            raise InputError(f"reference has {quoted(name)}, which is no body; {known_names(name, names)}")
        if not isinstance(pose, (list, tuple)) or len(pose) != 2:
            raise InputError(f"reference of {name!r} = {quoted(pose)}; it must be a position and a rotation")
        quat = as_quaternion(pose[1], f"rotation of {name!r} in reference")
        poses[name] = as_array(pose[0], f"position of {name!r} in reference", (3,)), rotation_matrix(quat)
    return poses


def _listed(terms: Any, field: str) -> Sequence[Any]:
    """The terms of a list; one term by itself is a likely slip."""
    if not isinstance(terms, (list, tuple)):
        raise InputError(f"{field} = {quoted(terms)}; it must be a list, [...]")
    return terms


def _check_places(places: tuple[int, ...] | None, count: int, field: str) -> None:
    """Refuse a term about a body that does not exist, or about one body twice."""
    if places is not None and len(set(places)) < len(places):
        raise InputError(f"{field} names a body twice, on which it does nothing; name two different ones")
    for place in places or ():
        if place >= count:
            raise InputError(f"{field} is about body {place}; of {count} bodies the last is body {count - 1}")


def _check_degree(term: OfInvariants, count: int, field: str) -> None:
    """Refuse invariants that are not of degree two at most: their third differences are not zero."""
    draw = np.random.default_rng(0)
    x, dx = jnp.asarray(draw.standard_normal((2, count, 3)))
    R, dR = jnp.asarray(draw.standard_normal((2, count, 3, 3)))
    values = [term.invariants(x + s * dx, R + s * dR) for s in (0.0, 1.0, 2.0, 3.0)]
    if not concrete(values):
        return
    parts = np.array([-1.0, 3.0, -3.0, 1.0])[:, None] * np.asarray(values)
    if np.any(np.abs(parts.sum(axis=0)) > 1e-9 * np.abs(parts).sum(axis=0)):
        raise InputError(
            f"{field} has invariants that are not polynomials of degree two in x and R; put what is not into "
            "energy_of, or give the potential as a function"
        )


def _check_motion(free: Prescribed, name: str, params: Any) -> None:
    """Refuse a prescribed motion that does not return a pose."""
    field = f"motion of {name!r}"
    if params is None:
        check_filled(free, field)
    pose = _tried(field, filled(free.motion, params), on_device(np.zeros(())))
    if [getattr(part, "shape", None) for part in jax.tree.leaves(pose)] != [(3,), (3, 3)]:
        raise InputError(f"{field} returns {_said(pose)}; it must return a position (3,) and a matrix (3, 3)")


def _shapes(count: int, *shapes: tuple[int, ...]) -> list[jax.ShapeDtypeStruct]:
    """Arrays with one entry for each body, by shape only."""
    return [jax.ShapeDtypeStruct((count, *shape), on_device(np.zeros(())).dtype) for shape in shapes]


def _check_uses(field: str, uses: Sequence[Use]) -> None:
    """Refuse functions of a term that cannot be evaluated, or return something else."""
    try:
        check_uses(uses)
    except InputError as error:
        raise InputError(f"{field}: {error}") from None


def _tried(field: str, function: Callable, *arguments: Any) -> Any:
    """Shapes of what a function returns; what goes wrong inside it becomes one line."""
    try:
        return jax.eval_shape(function, *arguments)
    except InputError as error:
        raise InputError(f"{field}: {error}") from None
    except Exception as error:
        raise InputError(f"{field} cannot be evaluated: {failure(error)}") from error


def _said(result: Any) -> str:
    """What a function returned, in words."""
    shapes = [str(part.shape) for part in jax.tree.leaves(result) if hasattr(part, "shape")]
    return f"numbers of shape {' and '.join(shapes)}" if shapes else "nothing"
