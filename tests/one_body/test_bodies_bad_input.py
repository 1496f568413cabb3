"""Wrong input of a run of bodies: one clear line each, from the layer that knows the remedy."""

from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.coordinates import Directors, EulerAngles, Group, Quaternions
from poinsot.integrators import Composition, EnergyMomentum, GaussLegendre, LieRattle, Rattle, Variational

TOP = pt.library.heavy_top(inertia=(1.0, 1.3, 1.7), mgl=1.4)
START = TOP.state(rotation=pt.rotation.euler("zxz", (0.4, 1.1, -0.7)), angular_velocity=(0.7, -0.5, 1.1))
GAUSS = GaussLegendre(2)


def simulate(system=TOP, start=START, **options: Any):
    options = {"integrator": GAUSS, "t1": 1.0, "dt": 0.05, "progress": False} | options
    return pt.simulate(system, start, **options)


BAD = {
    "triangle inequality": (
        lambda: pt.library.free_body(inertia=(1.0, 1.0, 3.0)),
        ("inertia", "(1.0, 1.0, 3.0)"),
    ),
    "triangle inequality about a fixed point": (
        lambda: pt.library.heavy_top(inertia=(1.0, 1.0, 3.0), mgl=1.0),
        ("inertia", "(1.0, 1.0, 3.0)"),
    ),
    "quaternion off by a thousandth": (
        lambda: simulate(start=TOP.state(rotation=(1.001, 0, 0, 0))),
        ("off by 0.001", "normalise=True"),
    ),
    "improper rotation": (
        lambda: simulate(start=TOP.state(rotation=np.diag([1.0, -1.0, 1.0]))),
        ("rotation of 'top'", "determinant -1"),
    ),
    "velocity against the fixed point": (
        lambda: simulate(start=TOP.state(velocity=(1.0, 0.0, 0.0))),
        ("velocity of 'top' = (1, 0, 0)", "off by 1", "leave it out"),
    ),
    "sigma below zero": (
        lambda: simulate(coordinates=Quaternions(sigma=-1.0), integrator=Variational()),
        ("sigma = -1.0", "zero or more"),
    ),
    "sigma and radial inertia": (
        lambda: simulate(coordinates=Quaternions(sigma=1.0, I0=1.0), integrator=Variational()),
        ("sigma = 1.0", "I0 = 1.0", "one of them"),
    ),
    "sigma zero where an inverse is needed": (
        lambda: simulate(coordinates=Quaternions(sigma=0), form="index3", integrator=Rattle()),
        ("RATTLE", "mass matrix", "singular", "Variational()"),
    ),
    "sigma zero under a composition": (
        lambda: simulate(
            coordinates=Quaternions(sigma=0), form="index3", integrator=Composition(Rattle(), "suzuki4")
        ),
        ("Suzuki 4 of RATTLE", "mass matrix", "singular", "Variational()"),
    ),
    "velocities alone under a composition": (
        lambda: simulate(
            coordinates=Quaternions(), form="index2", integrator=Composition(Rattle(), "suzuki4")
        ),
        ("Suzuki 4 of RATTLE", "form of index 2", "take the form 'index3'"),
    ),
    "sigma in a form without it": (
        lambda: simulate(coordinates=Quaternions(sigma="mean"), form="hamiltonian"),
        ("sigma = 'mean'", "'hamiltonian'", "leave sigma out"),
    ),
    "unknown form": (
        lambda: simulate(form="index4", coordinates=Quaternions()),
        ("form 'index4'", "index3", "null_space"),
    ),
    "coordinates that are none": (
        lambda: simulate(coordinates=3, form="index3"),
        ("pt.coordinates", "'quaternions'"),
    ),
    "coordinates by a wrong name": (
        lambda: simulate(coordinates="quaternion", form="index3"),
        ("'quaternion' is not known", "did you mean quaternions?"),
    ),
    "angles have no multipliers": (
        lambda: simulate(coordinates=EulerAngles(), form="index3"),
        ("EulerAngles", "no constraints", "'null_space'"),
    ),
    "method and form": (
        lambda: simulate(coordinates=Directors(), form="index3"),
        ("Gauss", "ordinary", "These fit:", "rattle", "variational"),
    ),
    "index 2": (
        lambda: simulate(coordinates=Directors(), form="index2", integrator=Rattle()),
        ("index 2", "'index3'"),
    ),
    "group form elsewhere": (
        lambda: simulate(coordinates=Quaternions(), form="group", integrator=LieRattle()),
        ("Quaternions has no form 'group'", "pt.coordinates.Group()"),
    ),
    "coordinates of a plain problem": (
        lambda: pt.simulate(
            pt.Hamiltonian(lambda q, p: 0.5 * (p[0] ** 2 + q[0] ** 2)),
            pt.State(q=[1.0], p=[0.0]),
            t1=1.0,
            dt=0.1,
            integrator=GAUSS,
            coordinates=Group(),
        ),
        ("coordinates = Group", "only a pt.System"),
    ),
    "form of a plain problem": (
        lambda: pt.simulate(
            pt.ODE(lambda y: -y),
            pt.State(y=[1.0]),
            t1=1.0,
            dt=0.1,
            integrator=GAUSS,
            form="index0",
        ),
        ("form = 'index0'", "only a pt.System"),
    ),
    "start at gimbal lock": (
        lambda: simulate(start=TOP.state(angular_velocity=(0.0, 0.0, 3.0)), coordinates=EulerAngles("zxz")),
        ("at the start", "gimbal lock", "quaternions"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_in_one_line_that_names_the_remedy(case):
    make, words = BAD[case]
    with pytest.raises(pt.InputError) as caught:
        make()
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line


@pytest.mark.parametrize("coordinates", [Directors(), pt.coordinates.Joint()])
def test_an_integrator_that_fits_no_form_for_one_reason_is_told_it_once(coordinates):
    with pytest.raises(pt.InputError) as caught:
        simulate(coordinates=coordinates, integrator=LieRattle())
    assert str(caught.value) == (
        "integrator Lie RATTLE needs a problem of kind 'group', such as bodies in pt.coordinates.Group()"
    )


def test_an_integrator_that_fits_nowhere_is_told_why_in_each_form():
    with pytest.raises(pt.InputError) as caught:
        simulate(coordinates=Directors(), integrator=pt.integrators.Splitting())
    first, *reasons = str(caught.value).splitlines()
    assert "fits none of the forms tried" in first
    assert ["needs a separable" in reason for reason in reasons] == [True, False]
    assert [reason.split(": ")[0].strip() for reason in reasons] == [
        "Directors, 'hamiltonian'",
        "; ".join(f"Directors, {form!r}" for form in ("index3", "null_space", "index2", "index0", "index1")),
    ]


def test_normalise_takes_the_nearest_rotation():
    kept = TOP.state(rotation=(1.001, 0, 0, 0), normalise=True)
    np.testing.assert_allclose(kept.quaternion[0], [1.0, 0.0, 0.0, 0.0], atol=1e-15)


def test_energy_methods_take_a_potential_that_declares_nothing():
    """Not bad input: the same system with an opaque potential is still accepted."""
    opaque = pt.System(TOP.bodies, freedom=TOP.freedom, potentials=[lambda x, R: 1.4 * R[0, 2, 2]])
    assert EnergyMomentum().refusal(pt.formulate(opaque, Quaternions(), "hamiltonian").problem) is None


@pytest.mark.slow
def test_a_run_that_nears_gimbal_lock_stops_there_and_keeps_what_came_before():
    """A free body that turns its axis up at constant speed: the middle angle falls from 0.5 to the margin."""
    sphere = pt.library.free_body(inertia=(1.0, 1.0, 1.0))
    start = sphere.state(rotation=pt.rotation.about_x(0.5), angular_velocity=(-1.0, 0.0, 0.0))
    options: dict[str, Any] = dict(coordinates=EulerAngles("zxz", margin=0.1), form="hamiltonian")
    with pytest.raises(pt.SimulationError) as caught:
        simulate(sphere, start, **options)
    run = caught.value.trajectory
    assert run.result is pt.Result.near_singularity
    assert "gimbal lock" in str(caught.value)
    # Angle 0.5 - t stays above the margin up to t = 0.4, that is for eight steps at most.
    assert len(run.t) == 8 or len(run.t) == 9
    tilt = np.arccos(run.rotation[:, 0, 2, 2])
    np.testing.assert_allclose(tilt, 0.5 - run.t, atol=1e-7)
    kept = simulate(sphere, start, throw=False, **options)
    np.testing.assert_array_equal(kept.t, run.t)


@pytest.mark.parametrize("integrator", [Rattle(), Composition(Rattle(), "suzuki4")])
def test_no_composition_of_what_is_refused_is_recommended(integrator):
    with pytest.raises(pt.InputError) as caught:
        simulate(coordinates=Quaternions(sigma=0), form="index3", integrator=integrator)
    recommended = str(caught.value).rsplit("These fit: ", 1)[1].split(", ")
    assert "variational-suzuki4" in recommended and not any("rattle" in name for name in recommended)
