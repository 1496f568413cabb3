"""Integrators on the group, for problems of kind `Group`: they multiply rotations and never leave it."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.integrators.lie._generalized_alpha import GeneralizedAlpha
    from poinsot.integrators.lie._midpoint import LieMidpoint
    from poinsot.integrators.lie._munthe_kaas import MuntheKaas
    from poinsot.integrators.lie._newmark import KryslEndresNewmark
    from poinsot.integrators.lie._rattle import LieRattle
    from poinsot.integrators.lie._splitting import LieSplitting
    from poinsot.integrators.lie._terze import TerzeRattle

__all__ = [
    "GeneralizedAlpha",
    "KryslEndresNewmark",
    "LieMidpoint",
    "LieRattle",
    "LieSplitting",
    "MuntheKaas",
    "TerzeRattle",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "GeneralizedAlpha": "._generalized_alpha",
        "LieMidpoint": "._midpoint",
        "MuntheKaas": "._munthe_kaas",
        "KryslEndresNewmark": "._newmark",
        "LieRattle": "._rattle",
        "LieSplitting": "._splitting",
        "TerzeRattle": "._terze",
    },
)
