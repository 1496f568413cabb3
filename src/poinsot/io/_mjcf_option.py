"""Options of MJCF files, and their flags: gravity, and what is switched off."""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

import numpy as np

from poinsot.core import InputError, quoted
from poinsot.io._mjcf_attributes import READ
from poinsot.io._mjcf_elements import Settings


@dataclass(frozen=True, eq=False)
class Option:
    """What acts on all bodies."""

    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    """Acceleration of free fall."""
    sprung: bool = True
    """Whether springs in joints act."""
    damped: bool = True

    @classmethod
    def of(cls, root: Element, file: str) -> "Option":
        """What the file says, all sections together.

        Raises:
            InputError: the medium around the bodies is not empty, or an attribute is not known.
        """
        gravity, on = cls().gravity, dict.fromkeys(READ["flag"].split(), True)
        for option in root.findall("option"):
            reading = Settings.reading(option, file)
            gravity = reading.vector("gravity", 3, gravity)
            for name in ("density", "viscosity"):
                if reading.number(name, 0.0) != 0.0:
                    raise InputError(
                        f"{file}: {name} of <option>: bodies move in empty space here; leave it out"
                    )
            for one in option:
                if one.tag != "flag":
                    raise InputError(f"{file}: <{one.tag}> of <option> is not read; leave it out")
                on |= _switched(one, file)
        passive = on["passive"]
        return cls(
            gravity if on["gravity"] else np.zeros(3), passive and on["spring"], passive and on["damper"]
        )


def _switched(flag: Element, file: str) -> dict[str, bool]:
    """Flags that change the motion: whether each is on, where it is said."""
    values = Settings.reading(flag, file).values
    for name, value in values.items():
        if value not in ("enable", "disable"):
            raise InputError(f"{file}: {name} = {quoted(value)} of <flag>; it is 'enable' or 'disable'")
    return {name: values[name] == "enable" for name in READ["flag"].split() if name in values}
