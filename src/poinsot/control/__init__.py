r"""Controllers and joint trajectories.

A controller is a load, forces $\tau(t, q, v)$ in the joints of a system, with loops those of its tree,
`pt.OpenChain(system, cut=True)`:
`pt.simulate(robot, start, control=controller, ...)`, in any coordinates; the energy balance of the run counts
its work. Gains and references are leaves, so that `jax.grad` of a cost goes through `pt.solve`.

- tracking: `ComputedTorque`, `PDGravity`; about an equilibrium: `LQR`
- your own law: `Feedback`; sampled with a zero-order hold: `Sampled`
- references: `quintic`, `trapezoidal`
"""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.control._computed_torque import ComputedTorque
    from poinsot.control._feedback import Feedback
    from poinsot.control._lqr import LQR
    from poinsot.control._paths import JointPath, quintic, trapezoidal
    from poinsot.control._pd_gravity import PDGravity
    from poinsot.control._riccati import riccati
    from poinsot.control._sampled import Held, Sampled, holding

__all__ = [
    "LQR",
    "ComputedTorque",
    "Feedback",
    "Held",
    "JointPath",
    "PDGravity",
    "Sampled",
    "holding",
    "quintic",
    "riccati",
    "trapezoidal",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "ComputedTorque": "._computed_torque",
        "Feedback": "._feedback",
        "LQR": "._lqr",
        "JointPath quintic trapezoidal": "._paths",
        "PDGravity": "._pd_gravity",
        "riccati": "._riccati",
        "Held Sampled holding": "._sampled",
    },
)
