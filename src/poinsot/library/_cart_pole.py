"""A pole on a cart."""

import jax.numpy as jnp
from jax.typing import ArrayLike

from poinsot.core import checked
from poinsot.library._bar import THICKNESS
from poinsot.library._parameters import Positive, single
from poinsot.model import RigidBody, System, joints, potentials


@checked
def cart_pole(
    cart: Positive = 1.0, pole: Positive = 0.1, length: Positive = 1.0, angle: ArrayLike = 0.1
) -> System:
    r"""A cart on rails along x with a uniform pole hinged to it: the classic of control.

    With the position x of the cart, the angle $\vartheta$ of the pole from upright towards x, half its length
    $l$ and its moment $J = m l^2/3$,

    $$ (M + m)\,\ddot x + m l\,(\ddot\vartheta\cos\vartheta - \dot\vartheta^2\sin\vartheta) = 0, \qquad
       (J + m l^2)\,\ddot\vartheta + m l\,\ddot x\cos\vartheta = m g l\sin\vartheta. $$

    The joints are called "rails" and "hinge", the frame at the end of the pole "tip".

    Args:
        cart: its mass $M$.
        pole: its mass $m$.
        length: of the pole, $2l$.
        angle: of the pole at the start, at rest.
    """
    given = single(cart=cart, pole=pole, length=length, angle=angle)
    end = 0.5 * given["length"] * jnp.array([0.0, 0.0, 1.0])
    scale = given["pole"] * given["length"] ** 2
    system = System(
        [
            RigidBody(given["cart"], 0.1 * given["cart"] * jnp.ones(3), name="cart"),
            RigidBody(given["pole"], scale * jnp.array([1 / 12, 1 / 12, THICKNESS]), name="pole"),
        ],
        joints=[
            joints.Prismatic(
                "ground", "cart", at_first=(0, 0, 0), at_second=(0, 0, 0), axis=(1, 0, 0), name="rails"
            ),
            joints.Revolute("cart", "pole", at_first=(0, 0, 0), at_second=-end, axis=(0, 1, 0), name="hinge"),
        ],
        potentials=[potentials.UniformGravity()],
        frames={"tip": ("pole", end)},
        name="cart-pole",
    )
    return system.recommending(system.joint_state({"hinge": given["angle"]}), 1e-3)
