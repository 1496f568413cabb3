"""Attributes of MJCF elements: those that are read, and those that say nothing of how bodies move."""

from collections.abc import Iterable

from poinsot.core import InputError, did_you_mean

PLACE = "pos quat axisangle euler xyaxes zaxis"
READ = {
    "compiler": "angle eulerseq autolimits inertiafromgeom meshdir assetdir strippath boundmass boundinertia "
    "settotalmass balanceinertia coordinate fusestatic inertiagrouprange alignfree",
    "option": "gravity density viscosity",
    "flag": "gravity passive spring damper",
    "worldbody": "",
    "body": f"name childclass {PLACE} mocap gravcomp",
    "inertial": f"{PLACE} mass diaginertia fullinertia",
    "joint": "name class type pos axis limited range stiffness damping springref springdamper ref armature "
    "frictionloss actuatorfrcrange actuatorfrclimited",
    "freejoint": "name align",
    "geom": f"name class type size fromto {PLACE} mass density shellinertia mesh contype conaffinity",
    "mesh": "name class file scale refpos refquat",
}
"""By element. What may change the motion is looked at where it is read, and refused there if it must be."""
IDLE = {
    "compiler": "discardvisual exactmeshinertia convexhull fitaabb saveinertial texturedir usethread",
    "option": "timestep apirate impratio wind magnetic o_margin o_solref o_solimp o_friction integrator "
    "cone jacobian solver iterations tolerance ls_iterations ls_tolerance noslip_iterations "
    "noslip_tolerance mpr_iterations mpr_tolerance ccd_iterations ccd_tolerance "
    "sdf_iterations sdf_initpoints actuatorgroupdisable sleep_tolerance collision",
    "flag": "constraint equality frictionloss limit contact clampctrl warmstart filterparent "
    "actuation refsafe sensor midphase nativeccd eulerdamp autoreset override energy fwdinv "
    "invdiscrete multiccd island sleep",
    "body": "user sleep",
    "joint": "group solreflimit solimplimit solreffriction solimpfriction actuatorgravcomp margin user",
    "freejoint": "group",
    "geom": "group priority condim friction solmix solref solimp margin gap material rgba user "
    "fluidshape fluidcoef hfield fitscale",
    "mesh": "content_type vertex normal texcoord face smoothnormal maxhullvert inertia builtin params "
    "material octree_maxdepth",
}
"""By element: methods, contacts, pictures, and the medium, which is empty here."""


def check_attributes(tag: str, given: Iterable[str], where: str) -> None:
    """Refuse attributes that are not known: they may change the motion.

    Raises:
        InputError: one line with the element and the attribute.
    """
    known = [*READ.get(tag, "").split(), *IDLE.get(tag, "").split()]
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, "leave it out, or write what it does here")
            raise InputError(f"{where}: attribute {name!r} of <{tag}> is not read; {hint}")
