"""Figures 13, 14 and 15: error against right-hand sides."""

from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._accuracy import (
    EXPLICIT,
    IMPLICIT,
    comparison,
    examples,
    finest,
    numbers,
    picture,
    settings,
)
from poinsot.papers.lang2010._formulations import ABSOLUTE, GENERAL

REMARKS = [
    "The numbers say how many times the right-hand sides of the first formulation the second one takes for "
    "the same error, as a median over its ladder of tolerances.",
    "The claim of the paper: null-space forms are superior to the forms of index 0, with every solver. It is "
    "judged for every solver that runs both forms; every point is in the record.",
    "Solvers that the paper does not name are shown beside its own; its ODE15S is our BDF, and IDA stands "
    "for DASSL. IDA takes the equations with multipliers only.",
]

OF_THE_RACKET = [
    "With the large disturbance all formulations reach the motion, with the small one those of index 0 "
    "are lost at coarse tolerances: they fail, as the paper says, where those of the null space do not.",
    "The unstable motion amplifies errors by many powers of ten, those of rounding too: with the small "
    "disturbance no solver comes below 1e-9. SEULEX stays between 1e-5 and 1e-2: the weights of its "
    "extrapolation amplify them once more, by up to a million.",
]


def figure_13(quick: bool, progress: bool | None) -> Findings:
    """Example A with the explicit solvers; with one of them if quick."""
    return _example_a(("DOP853",) if quick else tuple(EXPLICIT), "explicit solvers", quick)


def figure_14(quick: bool, progress: bool | None) -> Findings:
    """Example A with the implicit solvers; with one of them, at the coarse tolerances, if quick."""
    return _example_a(("RADAU5",) if quick else tuple(IMPLICIT), "implicit solvers", quick)


def _example_a(solvers: tuple[str, ...], title: str, quick: bool) -> Findings:
    found = [comparison("A", solver, quick) for solver in solvers]
    judged = [one for made in found for one in numbers("A", made)]
    return Findings(
        settings=settings("A", found, quick),
        numbers=judged,
        remarks=REMARKS,
        figures={"": picture(f"Example A, {title}", found, quick)},
    )


def figure_15(quick: bool, progress: bool | None) -> Findings:
    """Example B by DoPri5, and by all other solvers in further pictures; by DoPri5 alone if quick."""
    others = () if quick else tuple(name for name in EXPLICIT | IMPLICIT if name != "DoPri5")
    judged, made, figures = [], {}, {}
    for part, key in (("a", "B, 0.1"), ("b", "B, 1e-5")):
        first = comparison(key, "DoPri5", quick)
        rest = [comparison(key, solver, quick) for solver in others]
        judged += [one for found in (first, *rest) for one in numbers(key, found)]
        judged += _failures(key, first)
        made[key] = settings(key, [first, *rest], quick)
        title = examples()[key].title
        figures[f"-{part}"] = picture(title, [first], quick)
        if rest:
            figures[f"-{part}-others"] = picture(title, rest, quick)
    return Findings(made, judged, [*REMARKS, *OF_THE_RACKET], figures)


def _failures(key: str, found) -> list[Number]:
    """Errors at the middle of the ladder: small in the null space, large in absolute coordinates."""
    made = []
    for name in found.formulations:
        points = found.of("DoPri5", name)
        error = points[len(points) // 2].error
        title = f"{key}, DoPri5: {name}, error at tolerance {points[len(points) // 2].tolerance:g}"
        absolute = name in (*ABSOLUTE, GENERAL)
        if key == "B, 1e-5" and absolute:
            made.append(Number.at_least(title, error, 1.0))
        else:
            made.append(Number.at_most(title, error, 1.0 if absolute else 1e-2))
        made.append(Number.shown(f"{key}, DoPri5: {name}, smallest error", finest(found, name)))
    return made
