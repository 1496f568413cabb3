"""Scenarios of chains: what is written is the chain that is run, and what is wrong is named with its line."""

import tomllib

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.io import Scenario, load_scenario

CHAIN = """
[system]
name = "particle-chain"

[system.parameters]
count = 4
spacing = 2.5
neighbours = 2
body = { shape = "tetrahedron", a = 1.1, particle_mass = 0.5 }
potential = { name = "lennard-jones", epsilon = 5.0, sigma = 1.0 }
ends = ["clamped", { kind = "force", force = [3.0, 0.0, 1.0] }]

[start]
velocity_scale = 0.05
seed = 3

[integrator]
name = "lie-splitting"

[run]
t1 = 0.02
dt = 0.01
"""

BODY = 'body = { shape = "tetrahedron", a = 1.1, particle_mass = 0.5 }'
POTENTIAL = 'potential = { name = "lennard-jones", epsilon = 5.0, sigma = 1.0 }'
ENDS = 'ends = ["clamped", { kind = "force", force = [3.0, 0.0, 1.0] }]'
START = "velocity_scale = 0.05\nseed = 3"
ROWS = "[0.1, 0.2, 0.0], [2.5, 0.0, 0.0], [5.0, 0.1, 0.0], [7.5, 0.0, 0.3]"


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        path = tmp_path / "case.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def built(write):
    """The chain and the start of a changed file."""

    def built(*changes: tuple[str, str]):
        text = CHAIN
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        setup = load_scenario(write(text)).setup
        assert isinstance(setup.system, pt.Chain)
        return setup.system, setup.start

    return built


def _energy(chain: pt.Chain, state: pt.State) -> float:
    return float(chain.pose_potential(0.0, state.position, pt.rotation.to_matrix(state.quaternion)))


TERMS = """
[[potentials]]
name = "uniform-gravity"

[[potentials]]
name = "spring"
first = { body = "body1" }
second = { body = "body3", point = [0.0, 0.1, 0.0] }
stiffness = 2.0

[[potentials]]
name = "coulomb"
strength = 0.3
bodies = ["body0", "body2"]

[integrator]
"""


def test_potentials_of_the_file_act_on_a_chain(built):
    bare, start = built()
    chain, _ = built(("[integrator]", TERMS))
    P = pt.potentials
    same = bare.with_terms(
        [
            P.UniformGravity(),
            P.Spring(P.Marker(1), P.Marker(3, (0.0, 0.1, 0.0)), stiffness=2.0),
            P.Between(P.Coulomb(0.3), [0, 2]),
        ]
    )
    assert _energy(chain, start) == _energy(same, start)
    assert abs(_energy(chain, start) - _energy(bare, start)) > 1.0


def test_the_chain_is_the_one_written_down(built):
    chain, start = built()
    same = pt.library.particle_chain(
        body=pt.shapes.tetrahedron(a=1.1, particle_mass=0.5),
        count=4,
        spacing=2.5,
        potential=pt.potentials.LennardJones(epsilon=5.0, sigma=1.0),
        ends=("clamped", pt.ends.force((3.0, 0.0, 1.0))),
        neighbours=2,
    )
    expected = same.straight_state(velocity_scale=0.05, seed=3)
    for name in ("position", "quaternion", "velocity", "angular_velocity"):
        np.testing.assert_array_equal(start[name], expected[name])
    assert _energy(chain, start) == pytest.approx(_energy(same, expected), rel=1e-14)
    np.testing.assert_array_equal(chain.body_inertias, same.body_inertias)


def test_everything_has_a_default(built):
    text = CHAIN[CHAIN.index("[system.parameters]") : CHAIN.index("[integrator]")]
    chain, start = built((text, ""))
    same = pt.library.particle_chain()
    assert chain.count == 8 and not np.any(np.asarray(start.velocity))
    assert _energy(chain, start) == pytest.approx(_energy(same, same.straight_state()), rel=1e-14)


def test_particles_of_the_file(built):
    points = "[[0, 0, 0], [1, 0, 0], [0, 1.5, 0], [0, 0, 1]]"
    chain, _ = built((BODY, f"body = {{ masses = [1.0, 2.0, 3.0, 1.0], points = {points} }}"))
    body = pt.RigidBody.from_particles([1.0, 2.0, 3.0, 1.0], [[0, 0, 0], [1, 0, 0], [0, 1.5, 0], [0, 0, 1]])
    np.testing.assert_array_equal(chain.body_masses, np.full(4, 7.0))
    np.testing.assert_allclose(chain.body.principal_points, body.principal_points, rtol=1e-14)


@pytest.mark.parametrize(
    ("written", "terms"),
    [
        (
            '[{ name = "morse", depth = 2, width = 1.5, length = 1 }, { name = "coulomb", strength = 0.3 }]',
            [pt.potentials.Morse(2.0, 1.5, 1.0), pt.potentials.Coulomb(0.3)],
        ),
        (
            '{ name = "cutoff", radius = 4, pair = { name = "harmonic_pair", stiffness = 2, length = 3 } }',
            pt.potentials.Cutoff(pt.potentials.HarmonicPair(2.0, 3.0), 4.0),
        ),
        (
            '{ name = "gay-berne", epsilon = 1.5, sigma = 0.8, kappa = 2.0 }',
            pt.potentials.GayBerne(1.5, 0.8, kappa=2.0),
        ),
    ],
)
def test_potentials_by_name(built, written, terms):
    chain, start = built((POTENTIAL, f"potential = {written}"))
    same = pt.library.particle_chain(pt.shapes.tetrahedron(1.1, 0.5), 4, 2.5, terms, "free", neighbours=2)
    force = 3.0 * float(start.position[-1, 0])
    assert _energy(chain, start) + force == pytest.approx(_energy(same, start), rel=1e-13)


@pytest.mark.parametrize(
    ("written", "closure", "moving"),
    [
        ('"ring"', "ring", (4, 4)),
        ('"periodic"', "periodic", (4, 4)),
        ('"free"', "open", (4, 4)),
        ('["clamped", { kind = "displaced", position = [7.5, 0.0, 0.0] }]', "open", (2, 3)),
    ],
)
def test_ends_by_name(built, written, closure, moving):
    chain, _ = built(
        (ENDS, f"ends = {written}"), ("count = 4", "count = 4" if closure == "open" else "count = 5")
    )
    moving = moving if closure == "open" else (5, 5)
    assert chain.closure == closure
    assert (len(chain.translating), len(chain.rotating)) == moving


def test_rows_of_the_start(built):
    turned = "[[1, 0, 0, 0], [0.8, 0.6, 0, 0], [0.6, 0, 0.8, 0], [1, 0, 0, 0]]"
    rows = f"position = [{ROWS}]\nrotation = {turned}\nvelocity = [{ROWS}]"
    chain, start = built((START, rows), (ENDS, 'ends = "free"'))
    np.testing.assert_array_equal(start.position, tomllib.loads(f"rows = [{ROWS}]")["rows"])
    np.testing.assert_array_equal(start.velocity, start.position)
    np.testing.assert_allclose(start.quaternion[1], [0.8, 0.6, 0.0, 0.0], rtol=1e-15)
    assert not np.any(np.asarray(start.angular_velocity))


def test_loads_of_the_file_act(built):
    load = '\n[[loads]]\nname = "linear-damping"\nrotational = 0.5\nbodies = ["body2"]\n'
    chain, start = built(("[integrator]", f"{load}\n[integrator]"))
    (damping,) = chain.loads
    turning = jnp.ones((4, 3))
    R = pt.rotation.to_matrix(start.quaternion)
    _, torque = damping.wrench(0.0, start.position, R, start.velocity, turning)
    np.testing.assert_allclose(torque, -0.5 * np.eye(4)[2][:, None] * np.ones(3))


@pytest.mark.slow
def test_the_run_keeps_its_scenario():
    scenario = Scenario.model_validate(tomllib.loads(CHAIN))
    run = scenario.run(progress=False)
    assert Scenario.model_validate(run.attributes["scenario"]) == scenario
    assert 'ends = ["clamped", { kind = "force", force = [3.0, 0.0, 1.0] }]' in run.attributes["system"]


WRONG_WHEN_LOADED = [
    ("count = 4", "cuont = 4", r"line 5: \[system.parameters\] .* no parameter 'cuont'; did you mean count"),
    ("count = 4", "count = 2", "a chain with two ends has at least 3 bodies"),
    ("count = 4", "count = 4.5", r"count = 4.5; it must be a whole number"),
    ("spacing = 2.5", "spacing = -1.0", "spacing = -1; it must be positive"),
    (
        BODY,
        'body = "tetrahedron"',
        r"line 9: \[system.parameters.body\] is 'tetrahedron'; it must be a table",
    ),
    (
        BODY,
        'body = { shape = "tetrahedra" }',
        r"line 9: .*'tetrahedra' is not known; did you mean tetrahedron",
    ),
    (
        BODY,
        'body = { shape = "tetrahedron", b = 1 }',
        "tetrahedron has no key 'b'; its keys are a, particle_mass",
    ),
    (BODY, 'body = { shape = "two-rim-disc" }', "two-rim-disc needs radius and height"),
    (BODY, "body = { masses = [1.0] }", "has masses; it needs shape, one of .*tetrahedron, two-rim-disc"),
    (
        BODY,
        "body = { masses = [1.0, -1.0], points = [[0, 0, 0], [1, 0, 0]] }",
        r"masses\[1\] .* must be posi",
    ),
    (POTENTIAL, 'potential = { name = "lenard-jones" }', r"line 10: .*did you mean lennard-jones"),
    (
        POTENTIAL,
        "potential = { epsilon = 5.0 }",
        r"line 10: \[system.parameters.potential\] needs name, one of",
    ),
    (POTENTIAL, 'potential = { name = "lennard-jones", epsilon = 5.0 }', "lennard-jones needs sigma"),
    (
        POTENTIAL,
        'potential = { name = "cutoff", radius = 1.0, pair = {} }',
        "cutoff pair name = '' is not known",
    ),
    (ENDS, 'ends = ["clamped", "hinged"]', r"ends\] = 'hinged' is not known; .* kind = \"force\""),
    (
        ENDS,
        'ends = ["clamped", { kind = "pull" }]',
        r"line 11: \[system.parameters.ends\] name = 'pull' is not",
    ),
    (
        ENDS,
        'ends = ["clamped", { kind = "force" }]',
        r"line 11: \[system.parameters.ends\] force needs force",
    ),
    (
        ENDS,
        'ends = ["clamped", { force = [1, 0, 0] }]',
        r"line 11: .* needs kind, one of free, clamped, force",
    ),
    (START, "velocity_scale = -1.0", r"line 14: \[start\] velocity_scale = -1.0; it must be at least 0"),
    (
        START,
        "position = [[0.0, 1.0]]",
        r"line 14: \[start\] position\[0\] = \[0.0, 1.0\]; it must be a list of 3",
    ),
    (
        START,
        "rotation = [[1.0, 0.0]]",
        r"line 14: \[start\] rotation\[0\] = \[1.0, 0.0\]; it must be a list of 4",
    ),
    (START, "velocity_scal = 0.1", "has no key 'velocity_scal'; did you mean velocity_scale"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG_WHEN_LOADED)
def test_wrong_keys_and_values_are_named(write, old, new, message):
    assert old in CHAIN
    with pytest.raises(pt.InputError, match=message) as caught:
        load_scenario(write(CHAIN.replace(old, new)))
    assert "\n" not in str(caught.value)


WRONG_WHEN_BUILT = [
    ("seed = 3", f"position = [{ROWS}]", "has velocity_scale beside position; keep one of the two ways"),
    (START, "seed = 3", "has a seed of random velocities; it needs velocity_scale too"),
    (START, "q = [1.0]", r"\[start\] has q; a chain starts with velocity_scale and seed"),
    (START, "velocity = [0.0, 0.0, 0.0]", "velocity must be a list of 4 rows, one for each body"),
    (START, "velocity = [[0.0, 0.0, 0.0]]", "velocity must be a list of 4 rows, one for each body"),
    (START, f"position = [{ROWS}]", r"\[start\] position of 'body0' = .* its freedom"),
    (
        "[integrator]",
        '[[potentials]]\nname = "uniform-gravity"\nbodies = ["body9"]\n[integrator]',
        r"\[\[potentials\]\] uniform-gravity body = 'body9' is not known; the bodies are body0, body1",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG_WHEN_BUILT)
def test_values_that_make_no_sense_are_named(write, old, new, message):
    assert old in CHAIN
    with pytest.raises(pt.InputError, match=message) as caught:
        load_scenario(write(CHAIN.replace(old, new)))
    assert "\n" not in str(caught.value)


def test_what_is_for_chains_is_refused_for_one_body(write):
    top = CHAIN.replace("particle-chain", "heavy-top")
    parameters = top[top.index("[system.parameters]") : top.index("[start]")]
    top = top.replace(parameters, "parameters = { inertia = [50.0, 42.0, 10.0], mgl = 108.8 }\n")
    for start, message in (
        (START, "velocity_scale is for chains; heavy-top is a body"),
        ("angular_velocity = [[0.0, 0.0, 1.0]]", "angular_velocity has 1 rows; heavy-top is one body"),
    ):
        with pytest.raises(pt.InputError, match=message):
            load_scenario(write(top.replace(START, start)))
