"""How recursions are written in tests of many trees."""

import pytest

from poinsot.model.open_chain import _sweeps


@pytest.fixture
def looped(monkeypatch):
    """Recursions as loops, which compile in a third of the time."""
    monkeypatch.setattr(_sweeps, "is_long", lambda above: True)
