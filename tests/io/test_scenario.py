import json
import math
import tomllib
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.io import Scenario, load_scenario
from poinsot.io._scenario_errors import _keys
from poinsot.io._scenario_integrator import integrator_of
from poinsot.io._toml import line_of
from poinsot.library import REGISTRY
from poinsot.model import AbstractSystem
from poinsot.simulation._subject import choose

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))

GOOD = """
[system]
name = "harmonic-oscillator"
parameters = { mass = 1.0, stiffness = 4.0 }

[start]
q = [1.0]
p = [0]

[integrator]
name = "verlet"

[run]
t1 = 2.0
dt = 0.1
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "case.toml"
        path.write_text(text)
        return path

    return write


def with_integrator(lines: str) -> str:
    return GOOD.replace('name = "verlet"', lines)


def test_run_is_the_run_written_down(write):
    run = load_scenario(write(GOOD)).run(progress=False)
    q, p, h = 1.0, 0.0, 0.1
    for _ in range(20):
        p -= 0.5 * h * 4.0 * q
        q += h * p
        p -= 0.5 * h * 4.0 * q
    np.testing.assert_allclose([run.q[-1, 0], run.p[-1, 0]], [q, p], rtol=1e-13)
    assert run.t[-1] == 2.0 and len(run) == 21


def test_trajectory_keeps_the_scenario(write):
    scenario = load_scenario(write(GOOD))
    kept = scenario.run(progress=False).attributes["scenario"]
    assert Scenario.model_validate(json.loads(json.dumps(kept))) == scenario
    assert kept["run"]["dt"] == 0.1 and kept["start"] == {"q": [1.0], "p": [0.0]}


def test_a_failed_run_keeps_the_scenario_too(write):
    text = GOOD.replace("dt = 0.1", "dt = 2.0").replace('"verlet"', '"gauss4"')
    with pytest.raises(pt.SimulationError) as failure:
        load_scenario(write(text)).run(progress=False)
    assert failure.value.trajectory.attributes["scenario"]["run"]["dt"] == 2.0


def test_start_is_the_systems_own_unless_given(write):
    text = GOOD[: GOOD.index("[start]")] + GOOD[GOOD.index("[integrator]") :]
    run = load_scenario(write(text)).run(progress=False)
    own = pt.library.by_name("harmonic-oscillator", mass=1.0, stiffness=4.0).start
    assert run.q[0, 0] == own.q[0] and run.p[0, 0] == own.p[0]
    assert run.p[0, 0] != 0.0


@pytest.mark.parametrize(
    ("direction", "time"), [("down", 0.25 * math.pi), ("up", 0.75 * math.pi), ("both", 0.25 * math.pi)]
)
def test_stop_ends_the_run_where_a_component_passes_a_value(write, direction, time):
    stop = f'[run.stop]\ncomponent = "q[0]"\ndirection = "{direction}"\n'
    text = GOOD.replace("t1 = 2.0", "t1 = 10.0").replace('"verlet"', '"gauss12"') + stop
    run = load_scenario(write(text)).run(progress=False)
    assert run.result is pt.Result.stopped_by_event
    assert run.t[-1] == pytest.approx(time, abs=1e-13)


def test_stop_at_another_value(write):
    stop = '[run.stop]\ncomponent = "p[0]"\nvalue = -1.0\n'
    run = load_scenario(write(GOOD.replace('"verlet"', '"gauss12"') + stop)).run(progress=False)
    assert run.t[-1] == pytest.approx(0.5 * math.asin(0.5), abs=1e-13)


def test_save_at(write):
    run = load_scenario(write(GOOD + "save_at = [0.5, 1.25]\n")).run(progress=False)
    np.testing.assert_array_equal(run.t, [0.0, 0.5, 1.25])


def test_options_reach_the_integrator(write):
    options = 'compensated = true\nsolver = "newton"\ntolerance = 0\nmax_iterations = 7'
    section = load_scenario(write(with_integrator(f'name = "gauss6"\n{options}'))).integrator
    integrator = integrator_of(section)
    solver = pt.integrators.SimplifiedNewton(tolerance=0.0, max_iterations=7)
    assert integrator == pt.integrators.GaussLegendre(3, solver=solver, compensated=True)


def test_limits_alone_keep_the_solver(write):
    section = load_scenario(write(with_integrator('name = "radau5"\nmax_iterations = 7'))).integrator
    assert vars(integrator_of(section))["solver"] == pt.integrators.FixedPoint(max_iterations=7)


UNREADABLE = [
    (b"[system\n", r"case\.toml: not a TOML file: .*line 1"),
    (b"\x89PNG\r\n\x1a\n\x00\xff", r"case\.toml: not a TOML file: byte 0 is not UTF-8"),
    (b"a = " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
]


@pytest.mark.parametrize(("content", "message"), UNREADABLE)
def test_file_that_is_not_toml(tmp_path, content, message):
    path = tmp_path / "case.toml"
    path.write_bytes(content)
    with pytest.raises(pt.InputError, match=message):
        load_scenario(path)


def test_file_that_cannot_be_read(tmp_path):
    with pytest.raises(pt.InputError, match=r"none\.toml: cannot be read: no such file or directory"):
        load_scenario(tmp_path / "none.toml")
    with pytest.raises(pt.InputError, match="cannot be read: is a directory"):
        load_scenario(tmp_path)


WRONG_WHEN_LOADED = [
    ("dt = 0.1", "dtt = 0.1", r"case\.toml, line 15: \[run\] has no key 'dtt'; did you mean dt\?"),
    ("[run]", "[runs]", r"the file has no key 'runs'; did you mean run\?"),
    ("[start]", "dt = 0.1\n[start]", r"\[system\] has no key 'dt'; it belongs in \[run\]"),
    (
        "[start]",
        "inertia = [3, 2, 1]\n[start]",
        r"\[system\] has no key 'inertia'; if it is a parameter of the system, write parameters = \{ inertia",
    ),
    ("[integrator]", "[output]", r"\[output\] has no key 'name'; it belongs in \[system\]"),
    ('name = "verlet"', "", r"\[integrator\] needs name"),
    ("dt = 0.1", 'dt = "0.1"', r"line 15: \[run\] dt = '0.1'; it must be a number"),
    ("dt = 0.1", "dt = true", r"\[run\] dt = true; it must be a number"),
    ("dt = 0.1", "dt = 0.1\nsave_every = 2.5", r"save_every = 2.5; it must be a whole number"),
    ("dt = 0.1", "dt = 0.1\nsave_every = 0", r"save_every = 0; it must be at least 1"),
    ("dt = 0.1", "dt = 0.1\nsave_every = 1\nsave_at = [1.0]", r"\[run\] has both save_every and save_at"),
    ("dt = 0.1", 'dt = 0.1\nlast_step = "skip"', r"last_step = 'skip'; it must be 'refuse' or 'shorten'"),
    (
        "dt = 0.1",
        'dt = 0.1\nstop = { component = "q" }',
        r"\[run\.stop\] component = 'q'; .*such as .q\[0\]",
    ),
    ("q = [1.0]", "q = 1.0", r"line 7: \[start\] q = 1.0; it must be a list of numbers"),
    ("q = [1.0]", 'q = [1.0, "x"]', r"\[start\] q\[1\] = 'x'; it must be a number"),
    ("q = [1.0]", "q = [[1.0]]", r"\[start\] q\[0\] = \[1.0\]; it must be a number"),
    ('name = "verlet"', "name = 4", r"\[integrator\] name = 4; it must be a text in quotes"),
    ("[start]", "[output]\nstore = 1\n[start]", r"\[output\] store = 1; it must be true or false"),
    ("[system]", "start = 3\n[system]", r"start = 3; it must be a table of keys"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG_WHEN_LOADED)
def test_wrong_keys_and_values_are_named(write, old, new, message):
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if new.startswith("start"):
        text = text.replace("[start]\nq = [1.0]\np = [0]\n", "")
    with pytest.raises(pt.InputError, match=message) as caught:
        load_scenario(write(text))
    assert "\n" not in str(caught.value)


WRONG_WHEN_RUN = [
    ('"harmonic-oscillator"', '"harmonic-oscilator"', "did you mean harmonic-oscillator"),
    ("stiffness", "stifness", "did you mean stiffness"),
    ("stiffness", "name", "has no parameter 'name'"),
    ("mass = 1.0", "mass = [1.0, 2.0]", r"mass = \[1.0, 2.0\]; it must be a number"),
    ("q = [1.0]", "q = [1.0, 2.0]", r"\[start\] q = \[1.0, 2.0\]: 2 numbers; harmonic-oscillator has 1"),
    ("p = [0]", "", r"\[start\] has q; harmonic-oscillator needs q and p"),
    ("q = [1.0]", "q = [nan]", r"the start has q\[0\] = nan"),
    ('"verlet"', '"verlett"', "integrator 'verlett' is not known; did you mean verlet"),
    (
        '"verlet"',
        '"verlet"\ncompensated = true',
        "compensated = True does not apply to verlet; it has no options",
    ),
    (
        '"verlet"',
        '"rk4"\nsolver = "newton"',
        "solver = 'newton' does not apply to rk4; it may have comp",
    ),
    (
        '"verlet"',
        '"lobatto-iiiab4"\nsolver = "newton"',
        "solver of LobattoIIIAB = .*it must be a FixedPoint",
    ),
    ("dt = 0.1", "", "has fixed steps; give dt"),
    ('"verlet"', '"verlet"\nrtol = 1e-9', "rtol = 1e-09, but .* has fixed steps"),
    ('"verlet"', '"dormand-prince853"', "dt = 0.1, but Dormand-Prince 8.* chooses its steps"),
    (
        '"verlet"',
        '"dormand-prince853"\ncompensated = true',
        "compensated = True does not apply to dormand-prince853; it may have first_step, max_step, proj",
    ),
    ('"verlet"', '"dormand-prince853"\nmax_step = -1.0', r"max_step = -1.0; it must be a positive number"),
    ("dt = 0.1", "dt = 0", r"dt = 0; the step must be positive"),
    ("dt = 0.1", "dt = nan", r"dt = nan; it must be a finite number"),
    ("dt = 0.1", "dt = -0.1", r"dt = -0.1 leads away from t1 = 2.0"),
    ("dt = 0.1", "dt = 0.3", r"t1 = 2.0 is 6.66666667 steps of dt = 0.3.*take t1 = 2.1"),
    ("dt = 0.1", "dt = 1e-300", "take a larger dt"),
    ("dt = 0.1", "dt = 1e-10", r"GiB of memory; take save_every = \d+$"),
    ("dt = 0.1", "dt = 0.1\nsave_at = [3.0]", "save_at has 3.0, outside the run"),
    (
        "dt = 0.1",
        'dt = 0.1\nstop = { component = "q[1]" }',
        r"\[run.stop\] component = 'q\[1\]'; this system has q\[0\], p\[0\]",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG_WHEN_RUN)
def test_values_that_do_not_fit_the_system_are_named(write, old, new, message):
    assert old in GOOD
    with pytest.raises(pt.InputError, match=message):
        load_scenario(write(GOOD.replace(old, new, 1))).run(progress=False)


def test_validation_is_construction_once(write, monkeypatch):
    """What is wrong is found when the file is read, and what was built then is what runs."""
    made = []

    def counted(**values):
        made.append(values)
        return pt.library.harmonic_oscillator(**values)

    monkeypatch.setitem(REGISTRY._entries, "harmonic-oscillator", counted)
    scenario = load_scenario(write(GOOD))
    first = scenario.setup
    scenario.run(progress=False)
    assert len(made) == 1 and scenario.setup is first
    with pytest.raises(pt.InputError, match=r"line 4: \[system.parameters\] mass = -1.0; it must"):
        load_scenario(write(GOOD.replace("mass = 1.0", "mass = -1.0")))


def test_docstring_explains_every_key(monkeypatch):
    """Its files together have every key, but for the ways to give a rotation, which are in the text."""
    monkeypatch.chdir(EXAMPLES[0].parent)  # Where its robot is.
    text = Scenario.__doc__ or ""
    files = [tomllib.loads(part.removeprefix("toml")) for part in text.split("```")[1::2]]
    for table, keys in _keys(Scenario).items():
        if "rotation" in table or table in (("bodies", "start"), ("bodies", "reference")):
            assert all(key in text for key in keys), table
            continue
        shown = {key for content in files for one in _tables(content, table) for key in one}
        assert set(keys) - {"y"} <= shown, table
    assert "y = [...]" in text
    del files[0]["run"]["save_at"]
    # Tables of controllers are shown by themselves.
    whole = [content for content in files if set(content) != {"control"}]
    names = {Scenario.model_validate(content).integrator.name for content in whole}
    assert names == {"gauss6", "gauss4", "dormand-prince853", "lie-rattle"}


def _tables(content: dict, path: tuple[str, ...]) -> list[dict]:
    """The tables of one name in a file, of an array of tables all."""
    tables = [content]
    for name in path:
        inner = [table[name] for table in tables if name in table]
        tables = [one for item in inner for one in (item if isinstance(item, list) else [item])]
    return tables


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_whole_scenarios(path):
    scenario = load_scenario(path)
    setup = scenario.setup
    if isinstance(setup.system, AbstractSystem):
        choices = {key: value for key, value in setup.choices.items() if key != "control"}
        assert choose(setup.system, integrator_of(scenario.integrator), **choices).form
    else:
        assert scenario.integrator.name in pt.integrators.fitting(setup.system)
    if scenario.times.dt is None:
        assert scenario.integrator.name in pt.integrators.adaptive_names()
        return
    steps = (scenario.times.t1 - scenario.times.t0) / scenario.times.dt
    assert steps == pytest.approx(round(steps), rel=1e-12)
    method = integrator_of(scenario.integrator)
    assert isinstance(method, pt.integrators.AbstractIntegrator)
    assert method.name == pt.integrators.by_name(scenario.integrator.name).name


def test_there_are_examples():
    assert {"heavy_top", "kepler", "pendulum", "galactic", "harmonic_oscillator"} <= {
        path.stem for path in EXAMPLES
    }


def test_line_of_a_key():
    text = '# a\n[a]\nx = 1\n"y" = 2\nb.c = 3\n\n[a.d]\nx = 4\n[[e]]\nx = 5\n[[e]]\nx = 6\n[e.f]\ny = 7\n'
    places = {("a", "x"): 3, ("a", "y"): 4, ("a", "b", "c"): 5, ("a", "d", "x"): 8, ("e", "x"): 10}
    places |= {("e", "0", "x"): 10, ("e", "1", "x"): 12, ("e", "1", "f", "y"): 14, ("e", "1", "z"): 11}
    assert {place: line_of(text, place) for place in places} == places
    assert line_of(text, ("a", "d", "missing")) == 7
    assert line_of(text, ("f", "x")) is None
