"""Potential energies of the relative pose of two bodies."""

import abc
from collections.abc import Callable
from typing import Any

from poinsot.core import Checked, Printable, UserFunction, as_params
from poinsot.core.types import Rot, Scalar, Vec3

from ._timeless import check_number, timeless_function

_FIELD = "function of PosePair"


class AbstractPosePair(Printable, Checked):
    r"""A potential energy of the poses of two bodies, $V(d, R_1, R_2)$ with $d = x_2 - x_1$.

    It is a smooth function of d and of all nine components of each rotation matrix. That d alone enters
    conserves the linear momentum; the angular momentum is conserved where the energy is unchanged by a common
    rotation, $V(Q d, Q R_1, Q R_2) = V(d, R_1, R_2)$.
    """

    @abc.abstractmethod
    def energy(self, d: Vec3, R1: Rot, R2: Rot) -> Scalar:
        """The energy of one pair of bodies.

        Args:
            d: from the mass centre of the first body to that of the second, in space.
            R1: rotation matrix of the first, body to space.
            R2: rotation matrix of the second.
        """


class PosePair(AbstractPosePair):
    """Any JAX function of the relative pose of two bodies as a potential energy.

    Args:
        function: `f(d, R1, R2)` or `f(d, R1, R2, params)` with d (3,) from the first mass centre to the
            second and rotation matrices (3, 3), returning a number. It should be smooth in all components.
        params: any pytree of numbers and arrays.

    Raises:
        InputError: the function takes something else, or does not return one number.

    Example:
        >>> import jax.numpy as jnp
        >>> import poinsot as pt
        >>> aligned = pt.potentials.PosePair(lambda d, R1, R2: 0.5 * jnp.sum(d * d) - jnp.sum(R1 * R2))
    """

    function: UserFunction
    params: Any

    def __init__(self, function: Callable, params: Any = None):
        self.function = timeless_function(function, ("d", "R1", "R2"), _FIELD, params=params)
        self.params = as_params(params)
        check_number(self.energy, ((3,), (3, 3), (3, 3)), _FIELD)

    def energy(self, d: Vec3, R1: Rot, R2: Rot) -> Scalar:
        """The function's value."""
        return self.function(None, d, R1, R2, self.params)
