"""Scenarios of rigid bodies: what is written is what is run, and what is wrong is named in one line."""

import json
import math
import tomllib

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.io import Scenario, load_scenario

TOP = """
[system]
name = "heavy-top"
parameters = { inertia = [50.0, 42.0, 10.0], mgl = 108.8 }

[start]
rotation = { axis = [1.0, 0.0, 0.0], angle = 60.0, unit = "degrees" }
angular_velocity = [0.0, 0.0, 20.0]

[coordinates]
name = "directors"
constraints = "columns"

[equations]
form = "null_space"

[integrator]
name = "rk4"

[run]
t1 = 0.5
dt = 0.01
stop = { component = "rotation[0,2,2]", value = 0.4995 }
"""

PAIR = """
[[bodies]]
name = "rotor"
mass = 2.0
inertia = [[0.3, 0.01, 0.0], [0.01, 0.3, 0.0], [0.0, 0.0, 0.2]]
freedom = { name = "fixed-point", point = [0.0, 0.0, -0.1], at = [0.0, 0.0, 1.0] }

[bodies.start]
rotation = { euler = "xyz", angles = [0.1, 0.2, 0.3] }
angular_velocity = [0.0, 1.0, 30.0]

[[bodies]]
name = "ball"
density = 800.0
shape = { name = "sphere", radius = 0.1 }
start = { position = [0.0, 0.0, 2.0], velocity = [1.0, 0.0, 0.0] }

[[potentials]]
name = "uniform-gravity"
bodies = ["ball"]

[[potentials]]
name = "spring"
first = { body = "rotor", point = [0.0, 0.0, 0.1] }
second = { body = "ball" }
stiffness = 40.0

[[potentials]]
name = "spring"
first = [0.0, 0.0, 0.0]
second = { body = "ball" }
stiffness = 3.0

[[loads]]
name = "linear-damping"
rotational = [0.01, 0.01, 0.0]
bodies = ["rotor"]

[integrator]
name = "rk4"

[run]
t1 = 1.0
dt = 0.01
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        path = tmp_path / "case.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="module")
def stopped():
    return Scenario.model_validate(tomllib.loads(TOP)).run(progress=False)


def test_run_is_the_run_written_down(stopped):
    about = stopped.attributes
    assert isinstance(stopped, pt.BodyTrajectory)
    assert about["system"] == "heavy-top with inertia = [50.0, 42.0, 10.0], mgl = 108.8"
    assert about["coordinates"] == repr(pt.coordinates.Directors(constraints="columns"))
    assert (about["form"], about["method"]) == ("null_space", "RK4")
    half, tilt = math.sqrt(0.75), 0.5
    np.testing.assert_allclose(
        stopped.rotation[0, 0], [[1, 0, 0], [0, tilt, -half], [0, half, tilt]], atol=1e-15
    )
    np.testing.assert_allclose(stopped.angular_velocity[0, 0], [0.0, 0.0, 20.0], rtol=1e-14)
    np.testing.assert_allclose(stopped.energy[0], 0.5 * 10.0 * 20.0**2 + 0.5 * 108.8, rtol=1e-14)


def test_it_stops_where_a_part_of_the_motion_passes_a_value(stopped):
    assert stopped.result is pt.Result.stopped_by_event
    assert stopped.rotation[-1, 0, 2, 2] == pytest.approx(0.4995, abs=1e-13)
    assert np.all(stopped.rotation[:-1, 0, 2, 2] > 0.4995)


def test_trajectory_keeps_the_scenario(stopped, write):
    kept = json.loads(json.dumps(stopped.attributes["scenario"]))
    assert Scenario.model_validate(kept) == load_scenario(write(TOP))


def test_bodies_of_the_file(write):
    setup = load_scenario(write(PAIR)).setup
    system, start = setup.system, setup.start
    assert isinstance(system, pt.System)
    assert system.names == ("rotor", "ball") and system.name == "rotor and ball"
    ball = pt.shapes.sphere(0.1, density=800.0)
    np.testing.assert_allclose(system.body_masses, [2.0, 800.0 * 4.0 / 3.0 * math.pi * 1e-3], rtol=1e-14)
    np.testing.assert_allclose(system.body_inertias[1], ball.inertia_matrix, rtol=1e-15)
    np.testing.assert_allclose(system.body_inertias[0][0, 1], 0.01, rtol=1e-12)
    assert (system.translating, system.rotating) == ((1,), (0, 1))
    cx, sx, cy, sy, cz, sz = (f(a) for a in (0.1, 0.2, 0.3) for f in (math.cos, math.sin))
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    turned = about_x @ about_y @ about_z
    np.testing.assert_allclose(pt.rotation.to_matrix(start.quaternion[0]), turned, atol=1e-15)
    np.testing.assert_allclose(start.position[0], [0.0, 0.0, 1.0] - turned @ [0.0, 0.0, -0.1], atol=1e-15)
    np.testing.assert_array_equal(start.velocity[1], [1.0, 0.0, 0.0])


def test_potentials_and_loads_of_the_file_act(write):
    setup = load_scenario(write(PAIR)).setup
    system, start = setup.system, setup.start
    assert isinstance(system, pt.System)
    x = np.asarray(start.position)
    R = np.asarray(pt.rotation.to_matrix(start.quaternion))
    tip = x[0] + R[0] @ [0.0, 0.0, 0.1]
    mass = float(system.body_masses[1])
    expected = mass * 9.81 * 2.0 + 20.0 * np.sum((tip - x[1]) ** 2) + 1.5 * 4.0
    energies = [
        term.energy(0.0, start.position, pt.rotation.to_matrix(start.quaternion))
        for term in system.potentials
    ]
    np.testing.assert_allclose(sum(map(float, energies)), expected, rtol=1e-14)
    (damping,) = system.loads
    _, torque = damping.wrench(0.0, start.position, jnp.asarray(R), start.velocity, start.angular_velocity)
    np.testing.assert_allclose(torque, [[0.0, -0.01, 0.0], [0.0, 0.0, 0.0]], atol=1e-17)


CLUSTER = """
[[bodies]]
name = "left"
shape = { name = "tetrahedron", a = 1.1 }

[[bodies]]
name = "right"
shape = { name = "particles", masses = [1.0, 2.0, 1.0], points = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]] }
start = { position = [3.0, 0.0, 0.0] }

[[bodies]]
name = "ball"
mass = 1.0
shape = { name = "sphere", radius = 0.1 }
start = { position = [0.0, 3.0, 0.0] }

[[potentials]]
name = "lennard-jones"
epsilon = 2.0
sigma = 1.5

[[potentials]]
name = "gay-berne"
epsilon = 1.0
sigma = 0.8
bodies = ["ball", "left"]

[integrator]
name = "gauss4"

[run]
t1 = 1.0
dt = 0.1
"""


def test_pair_potentials_act_between_bodies_of_the_file(write):
    setup = load_scenario(write(CLUSTER)).setup
    system, start = setup.system, setup.start
    assert isinstance(system, pt.System)
    P = pt.potentials
    right = pt.RigidBody.from_particles([1.0, 2.0, 1.0], np.eye(3), name="right")
    ball = pt.shapes.sphere(mass=1.0, radius=0.1, name="ball")
    same = pt.System(
        [pt.shapes.tetrahedron(1.1, name="left"), right, ball],
        potentials=[P.LennardJones(2.0, 1.5), P.Between(P.GayBerne(1.0, 0.8), ["ball", "left"])],
    )
    R = pt.rotation.to_matrix(start.quaternion)
    found, wanted = (one.pose_potential(0.0, start.position, R) for one in (system, same))
    assert float(found) == float(wanted) != 0.0


BAD_CLUSTER = [
    ('bodies = ["ball", "left"]', 'bodies = ["ball", "rod"]', r"gay-berne body = 'rod' is not known"),
    ('bodies = ["ball", "left"]', 'bodies = ["ball"]', "GayBerne acts between two bodies or more, and has 1"),
    ("sigma = 1.5", "sigma = -1.5", r"\[\[potentials\]\] lennard-jones: sigma of LennardJones = -1.5"),
    ('name = "gay-berne"', 'name = "gay-bern"', "did you mean gay-berne"),
    (
        "a = 1.1 }",
        "a = 1.1 }\nmass = 2.0",
        "'left' has mass; a body of particles has the mass of its particles",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD_CLUSTER)
def test_wrong_pair_terms_are_named(write, old, new, message):
    assert old in CLUSTER
    with pytest.raises(pt.InputError, match=message) as caught:
        load_scenario(write(CLUSTER.replace(old, new)))
    assert "\n" not in str(caught.value)


def test_terms_are_added_to_those_of_the_library(write):
    damped = TOP + '\n[[loads]]\nname = "linear-damping"\nrotational = 0.5\n'
    system = load_scenario(write(damped)).setup.system
    assert isinstance(system, pt.System)
    assert len(system.potentials) == 1 and not system.conservative


ROTATIONS = [
    "{ quaternion = [0.8660254037844386, 0.5, 0.0, 0.0] }",
    "{ quaternion = [1.732, 1.0, 0.0, 0.0], normalise = true }",
    "{ euler = 'zxz', angles = [0.0, 1.0471975511965976, 0.0] }",
    "{ matrix = [[1.0, 0.0, 0.0], [0.0, 0.5, -0.866], [0.0, 0.866, 0.5]], normalise = true }",
]


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_every_way_to_give_a_rotation(write, rotation):
    text = TOP.replace('{ axis = [1.0, 0.0, 0.0], angle = 60.0, unit = "degrees" }', rotation)
    start = load_scenario(write(text)).setup.start
    coarse = "normalise" in rotation
    np.testing.assert_allclose(
        start.quaternion[0], [math.sqrt(0.75), 0.5, 0.0, 0.0], atol=2e-5 if coarse else 1e-15
    )
    np.testing.assert_allclose(np.linalg.norm(start.quaternion[0]), 1.0, rtol=1e-15)


def test_examples_of_the_library_have_a_start(write):
    text = TOP[: TOP.index("[start]")] + TOP[TOP.index("[coordinates]") :]
    example = text.replace('"heavy-top"', '"gyro-top"')
    start = load_scenario(write(example)).setup.start
    own = pt.library.gyro_top(mgl=108.8).start
    np.testing.assert_array_equal(start.quaternion, own.quaternion)
    with pytest.raises(pt.InputError, match="heavy-top has no start of its own"):
        load_scenario(write(text))


AXIS = '{ axis = [1.0, 0.0, 0.0], angle = 60.0, unit = "degrees" }'
WRONG_WHEN_LOADED = [
    (
        TOP,
        AXIS,
        "{ quaternion = [1.0, 0.1, 0, 0] }",
        r"line 7: \[start\.rotation\] quaternion has length 1 but for 0\.00499",
    ),
    (
        TOP,
        AXIS,
        "{ quaternion = [1.0, 0.1, 0] }",
        r"\[start\.rotation\] quaternion = \[1.0, 0.1, 0\]; it must be a list of 4",
    ),
    (TOP, AXIS, "{ axis = [1.0, 0, 0] }", r"has axis; it needs euler and angles, or axis and angle, or quat"),
    (TOP, AXIS, "{ euler = 'zzx', angles = [0, 0, 0] }", "euler = 'zzx' is not known; the sequences are xyx"),
    (TOP, AXIS, "{ axis = [0, 0, 0], angle = 1 }", "axis = .* it must have a direction"),
    (TOP, AXIS, "{ matrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]] }", "determinant that is not positive"),
    (TOP, AXIS, "{ matrix = [[1, 0, 0], [0, 1, 0.1], [0, 0, 1]] }", "orthogonal but for 0.1; add digits"),
    (TOP, AXIS, "1.0", r"\[start\] rotation = 1.0; it must be a table of keys"),
    (
        TOP,
        "angular_velocity = [0.0, 0.0, 20.0]",
        "angular_velocity = [20.0]",
        "angular_velocity = .20.0.; it must be a list of 3",
    ),
    (
        TOP,
        "angular_velocity",
        "angular_velocty",
        r"\[start\] has no key 'angular_velocty'; did you mean angular_velocity",
    ),
    (
        TOP,
        "[system]",
        "[[bodies]]\nname = 'a'\nmass = 1\ninertia = [1, 1, 1]\n[system]",
        "both .system. and ..bodies",
    ),
    (PAIR, "[integrator]", "[start]\n[integrator]", r"\[start\] beside \[\[bodies\]\]"),
    (
        PAIR,
        "density = 800.0",
        "densty = 800.0",
        r"line 14: \[bodies\] has no key 'densty'; did you mean density",
    ),
    (PAIR, "mass = 2.0", "mass = '2'", r"line 4: \[bodies\] mass = '2'; it must be a number"),
    (PAIR, "mass = 2.0", "", r"line 2: \[bodies\] 'rotor' has an inertia; it needs mass too"),
    (PAIR, 'shape = { name = "sphere", radius = 0.1 }', "", "'ball' has neither inertia nor shape"),
    (
        PAIR,
        "[0.1, 0.2, 0.3]",
        "[0.1, 'x', 0.3]",
        r"line 9: \[bodies\.start\.rotation\] angles\[1\] = 'x'; it must be a number",
    ),
]


@pytest.mark.parametrize(("text", "old", "new", "message"), WRONG_WHEN_LOADED)
def test_wrong_keys_and_values_are_named(write, text, old, new, message):
    assert old in text
    with pytest.raises(pt.InputError, match=message) as caught:
        load_scenario(write(text.replace(old, new, 1)))
    assert "\n" not in str(caught.value)


WRONG_WHEN_BUILT = [
    (TOP, '"heavy-top"', '"heavy-topp"', "did you mean heavy-top"),
    (TOP, "inertia = [50.0, 42.0, 10.0], ", "", "system 'heavy-top' needs inertia"),
    (TOP, "[50.0, 42.0, 10.0]", "[50.0, 4.0, 10.0]", "triangle inequality"),
    (
        TOP,
        '"directors"',
        '"director"',
        r"\[coordinates\] name = 'director' is not known; did you mean directors",
    ),
    (
        TOP,
        "constraints =",
        "constraint =",
        r"\[coordinates\] directors has no key 'constraint'; did you mean constraints",
    ),
    (TOP, '"columns"', '"both"', r"\[coordinates\] directors: .*'both'"),
    (TOP, "[start]", "[start]\nposition = [1.0, 0.0, 0.0]", r"\[start\] position of 'top' = .* its freedom"),
    (
        TOP,
        "[start]",
        "[start]\nq = [1.0]",
        r"\[start\] has q; heavy-top is a body, which starts with position",
    ),
    (
        PAIR,
        '{ name = "sphere", radius = 0.1 }',
        '{ name = "sphere" }',
        r"\[bodies.shape\] sphere needs radius",
    ),
    (
        PAIR,
        '"fixed-point"',
        '"hinge"',
        r"\[bodies.freedom\] name = 'hinge' is not known; the freedoms are free, fixed-point",
    ),
    (
        PAIR,
        "stiffness = 40.0",
        "stifness = 40.0",
        r"\[\[potentials\]\] spring has no key 'stifness'; did you mean stiff",
    ),
    (PAIR, "stiffness = 40.0", "", r"\[\[potentials\]\] spring needs stiffness"),
    (
        PAIR,
        '{ body = "ball" }',
        '{ body = "bull" }',
        "body = 'bull' is not known; the bodies are rotor, ball",
    ),
    (
        PAIR,
        '{ body = "ball" }',
        '{ body = "ball", rotation = { angle = 1.0 } }',
        r"\[rotation\] has angle; it needs",
    ),
    (PAIR, '{ body = "ball" }', '{ body = "rotor" }', "both ends of Spring are on body 0"),
    (PAIR, "mass = 2.0", "mass = -2.0", r"\[\[bodies\]\] mass of 'rotor' = -2; it must be positive"),
    (PAIR, "[0.01, 0.3, 0.0]", "[0.02, 0.3, 0.0]", r"\[\[bodies\]\] inertia of 'rotor'.*symmetric"),
]


@pytest.mark.parametrize(("text", "old", "new", "message"), WRONG_WHEN_BUILT)
def test_values_that_make_no_sense_are_named(write, text, old, new, message):
    assert old in text
    with pytest.raises(pt.InputError, match=message) as caught:
        load_scenario(write(text.replace(old, new, 1)))
    assert "\n" not in str(caught.value)


def test_what_does_not_go_together_is_refused_before_anything_runs(write):
    for old, new, message in (
        ('"null_space"', '"index4"', "form 'index4' is not known; .*the forms are hamiltonian"),
        ("rotation[0,2,2]", "height[0]", r"component = 'height\[0\]'; bodies have position"),
        ("rotation[0,2,2]", "rotation[0,2]", r"rotation goes up to rotation\[0,2,2\]"),
    ):
        with pytest.raises(pt.InputError, match=message):
            load_scenario(write(TOP.replace(old, new))).run(progress=False)


def test_systems_of_equations_have_no_coordinates(write):
    text = TOP.replace('"heavy-top"', '"kepler"').replace(
        "{ inertia = [50.0, 42.0, 10.0], mgl = 108.8 }", "{}"
    )
    with pytest.raises(
        pt.InputError, match=r"\[coordinates\] is for rigid bodies; kepler is given by its equ"
    ):
        load_scenario(write(text))
