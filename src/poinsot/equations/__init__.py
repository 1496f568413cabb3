"""Forms of the equations of motion: they make a problem for an integrator of a system and coordinates."""

from poinsot.equations._bodies import Bodies
from poinsot.equations._constrained_bodies import ConstrainedBodies
from poinsot.equations._form_state import FormState
from poinsot.equations._forms import FORMS
from poinsot.equations._formulation import MOMENTA, Formulation, Motion, formulate, preferences, refusal
from poinsot.equations._hamiltonian import BodiesEnergy
from poinsot.equations._index_reduced import IndexReduced, NullSpace
from poinsot.equations._multiplier_form import MultiplierRates
from poinsot.equations._second_order import SecondOrder

__all__ = [
    "FORMS",
    "MOMENTA",
    "Bodies",
    "BodiesEnergy",
    "ConstrainedBodies",
    "FormState",
    "Formulation",
    "IndexReduced",
    "Motion",
    "MultiplierRates",
    "NullSpace",
    "SecondOrder",
    "formulate",
    "preferences",
    "refusal",
]
