"""Tables and figures of papers, computed again: our numbers beside the published ones."""

from poinsot.papers._reproduce import catalogue, items_of, reproduce
from poinsot.papers._reproduction import Findings, Number, Reproduction, verdict_of

__all__ = ["Findings", "Number", "Reproduction", "catalogue", "items_of", "reproduce", "verdict_of"]
