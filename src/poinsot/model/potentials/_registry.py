"""Potentials by name: one line each feeds scenario files."""

from collections.abc import Callable
from typing import Any

from poinsot.core import Later, Registry

REGISTRY: Registry[Callable[..., Any]] = Registry(
    "potential",
    Later.each(
        __package__,
        {
            "uniform-gravity": "_gravity.UniformGravity",
            "heavy-top": "_heavy_top.HeavyTop",
            "gravity-gradient": "_gravity_gradient.GravityGradient",
            "constant-force": "_constant_force.ConstantForce",
            "spring": "_spring.Spring",
            "joint-spring": "_joint_spring.JointSpring",
            "linear-bushing": "_bushing.LinearBushing",
            "torsional-bushing": "_bushing.TorsionalBushing",
            "lennard-jones": "_lennard_jones.LennardJones",
            "morse": "_morse.Morse",
            "coulomb": "_coulomb.Coulomb",
            "screened-coulomb": "_coulomb.ScreenedCoulomb",
            "harmonic-pair": "_harmonic.HarmonicPair",
            "cutoff": "_cutoff.Cutoff",
            "gay-berne": "_gay_berne.GayBerne",
        },
    ),
)
