"""Measurements on problems, integrators and motions: they return data and never draw."""

from poinsot.analysis._poincare import PoincareSection, poincare_section

__all__ = ["PoincareSection", "poincare_section"]
