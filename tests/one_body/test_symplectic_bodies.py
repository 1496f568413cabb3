"""Certificates of symplecticity of one body: the canonical form on rotations and body momenta."""

import pytest

from poinsot.analysis import certify_body
from poinsot.coordinates import Directors, Group, Quaternions
from poinsot.integrators import LieRattle, Rattle, TerzeRattle, Variational

SYMPLECTIC = {
    "RATTLE, quaternions": (Rattle(), Quaternions(), "index3"),
    "RATTLE, directors": (Rattle(), Directors(), "index3"),
    "variational, quaternions": (Variational(), Quaternions(sigma="mean"), "index3"),
    "variational, directors": (Variational(), Directors(), "index3"),
}


def check(method, coordinates, form):
    assert method.symplectic
    certificate = certify_body(method, coordinates, form)
    assert certificate.symplectic is not None and certificate.symplectic < 1e-12
    assert certificate.momentum is not None and certificate.momentum < 1e-12
    assert certificate.order == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
def test_lie_rattle_is_symplectic():
    check(LieRattle(), Group(), "group")


@pytest.mark.slow
@pytest.mark.parametrize("name", SYMPLECTIC)
def test_methods_that_impose_constraints_are_symplectic(name):
    check(*SYMPLECTIC[name])


@pytest.mark.slow
def test_terze_rattle_is_not_and_does_not_say_so():
    certificate = certify_body(TerzeRattle(), Group(), "group")
    assert certificate.symplectic is not None and certificate.symplectic > 1e-8
    assert certificate.momentum is not None and certificate.momentum > 1e-8
    assert not TerzeRattle().symplectic and certificate.order == pytest.approx(2.0, abs=0.1)
