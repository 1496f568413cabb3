"""Wrong input of coordinates: refused at once, with the field, the value and a remedy."""

import jax
import jax.numpy as jnp
import pytest
from coordinate_cases import FLAT, J

import poinsot as pt
from poinsot import coordinates as co


@pytest.mark.parametrize(
    ("coordinates", "arguments", "words"),
    [
        (co.Quaternions, dict(sigma=-0.1), ("sigma = -0.1", "zero or more")),
        (co.Quaternions, dict(I0=-2.0), ("I0 = -2.0", "zero or more")),
        (co.Quaternions, dict(sigma=0.5, I0=0.5), ("sigma = 0.5", "I0 = 0.5", "one of them")),
        (co.Quaternions, dict(sigma="mean", I0=0.0), ("sigma = 'mean'", "I0 = 0.0", "one of them")),
        (co.Quaternions, dict(sigma="median"), ("'median'", "'mean'")),
        (co.Quaternions, dict(sigma=float("nan")), ("sigma of Quaternions = nan", "finite")),
        (co.Quaternions, dict(sigma=True), ("sigma of Quaternions = True", "number")),
        (co.Directors, dict(sigma=-1), ("sigma = -1", "zero or more")),
        (co.Directors, dict(sigma=float("inf")), ("sigma of Directors = inf", "finite")),
        (co.Directors, dict(constraints="both"), ("constraints of Directors = 'both'", "'rows'")),
        (co.Directors, dict(projection="qr"), ("projection of Directors = 'qr'", "'nearest'")),
        (co.EulerAngles, dict(sequence="zzx"), ("sequence = 'zzx'", "zxz")),
        (co.EulerAngles, dict(sequence="ZXZ"), ("sequence = 'ZXZ'", "zxz")),
        (co.EulerAngles, dict(margin=-0.1), ("margin = -0.1", "zero or more")),
        (co.EulerAngles, dict(margin=1.6), ("margin = 1.6", "pi/2")),
        (co.Group, dict(element="spinor"), ("element of Group = 'spinor'", "'matrix'")),
    ],
)
def test_refused_when_built(coordinates, arguments, words):
    with pytest.raises(pt.InputError) as error:
        coordinates(**arguments)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("coordinates", "field"),
    [
        (co.Quaternions(sigma=0), "sigma = 0"),
        (co.Quaternions(I0=0), "I0 = 0"),
        (co.Directors(0), "sigma = 0"),
    ],
)
def test_zero_is_refused_only_where_an_inverse_is_needed(coordinates, field):
    line = coordinates.refusal("regular", jnp.asarray(J))
    assert line is not None and line.startswith(field) and "take" in line and "\n" not in line
    for form in ("index3", "index1", "index0", "null_space", "hamiltonian"):
        assert coordinates.refusal(form, jnp.asarray(J)) is None


def test_moments_that_are_traced_are_not_looked_at():
    lines = []

    @jax.jit
    def traced(moments):
        lines.append(co.Directors().refusal("regular", moments))
        return moments

    traced(jnp.asarray(FLAT))
    assert lines == [None] and co.Directors().refusal("regular", jnp.asarray(FLAT)) is not None


def test_coordinates_show_how_to_build_them():
    shown = "Directors(sigma=0.5, constraints='columns', projection='nearest')"
    assert repr(co.Directors(0.5, constraints="columns")) == shown
    assert repr(co.Quaternions("mean")) == "Quaternions(sigma='mean', I0=None)"
    assert repr(co.EulerAngles("xyz")) == "EulerAngles(sequence='xyz', margin=0.01)"
    assert repr(co.Group()) == "Group(element='quaternion')"
