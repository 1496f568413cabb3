"""Tableaux against closed forms, counting sequences and theorems; wrong ones must be refused."""

from dataclasses import FrozenInstanceError
from decimal import Decimal, localcontext
from fractions import Fraction
from math import factorial

import mpmath
import numpy as np
import pytest

from poinsot.integrators._digits import doubles
from poinsot.integrators._partitioned_tableau import PartitionedTableau, pair_order_by_trees
from poinsot.integrators._rooted_trees import RootedTree, rooted_trees
from poinsot.integrators._tableau import (
    ButcherTableau,
    adjoint,
    is_symmetric,
    is_symplectic,
    order_by_trees,
    simplifying_conditions,
    symplectic_adjoint,
)
from poinsot.integrators.coefficients import (
    dormand_prince5,
    explicit_euler,
    gauss,
    heun,
    implicit_euler,
    implicit_midpoint,
    lobatto_iiia,
    lobatto_iiib,
    lobatto_iiic,
    lobatto_pair,
    radau_iia,
    rk4,
    sun_geng5,
)

RK4_A = [[0, 0, 0, 0], ["1/2", 0, 0, 0], [0, "1/2", 0, 0], [0, 0, 1, 0]]
RK4_B = ["1/6", "1/3", "1/3", "1/6"]


def largest_difference(actual, expected) -> float:
    """Entrywise, in 60 digits; the rows may hold decimals and mpf."""
    with mpmath.workdps(60):
        left, right = (
            [mpmath.mpf(str(x)) if isinstance(x, Decimal) else x for row in rows for x in row]
            for rows in (actual, expected)
        )
        return float(max(abs(x - y) for x, y in zip(left, right, strict=True)))


# Closed forms


def test_gauss6_closed_form():
    with mpmath.workdps(60):
        r = mpmath.sqrt(15)
        f = mpmath.mpf
        A = [
            [f(5) / 36, f(2) / 9 - r / 15, f(5) / 36 - r / 30],
            [f(5) / 36 + r / 24, f(2) / 9, f(5) / 36 - r / 24],
            [f(5) / 36 + r / 30, f(2) / 9 + r / 15, f(5) / 36],
        ]
        c = [f(1) / 2 - r / 10, f(1) / 2, f(1) / 2 + r / 10]
        b = [f(5) / 18, f(4) / 9, f(5) / 18]
    tableau = gauss(3)
    assert largest_difference(tableau.A, A) < 1e-49
    assert largest_difference([tableau.b, tableau.c], [b, c]) < 1e-49


def test_radau_and_sun_geng_closed_forms():
    with mpmath.workdps(60):
        s, f = mpmath.sqrt(6), mpmath.mpf
        b = [(16 - s) / 36, (16 + s) / 36, f(1) / 9]
        radau = [
            [(88 - 7 * s) / 360, (296 - 169 * s) / 1800, (-2 + 3 * s) / 225],
            [(296 + 169 * s) / 1800, (88 + 7 * s) / 360, (-2 - 3 * s) / 225],
            b,
        ]
        sun_geng = [
            [(16 - s) / 72, (328 - 167 * s) / 1800, (-2 + 3 * s) / 450],
            [(328 + 167 * s) / 1800, (16 + s) / 72, (-2 - 3 * s) / 450],
            [(85 - 10 * s) / 180, (85 + 10 * s) / 180, f(1) / 18],
        ]
        c = [(4 - s) / 10, (4 + s) / 10, f(1)]
        radau3 = [[f(5) / 12, -f(1) / 12], [f(3) / 4, f(1) / 4]]
    assert largest_difference(radau_iia(3).A, radau) < 1e-49
    assert largest_difference(radau_iia(2).A, radau3) < 1e-49
    assert largest_difference(sun_geng5().A, sun_geng) < 1e-49
    for tableau in (radau_iia(3), sun_geng5()):
        assert largest_difference([tableau.b, tableau.c], [b, c]) < 1e-49


@pytest.mark.parametrize(
    ("tableau", "matrix"),
    [
        (lobatto_iiia(2), "0 0  1/2 1/2"),
        (lobatto_iiib(2), "1/2 0  1/2 0"),
        (lobatto_iiic(2), "1/2 -1/2  1/2 1/2"),
        (lobatto_iiia(3), "0 0 0  5/24 1/3 -1/24  1/6 2/3 1/6"),
        (lobatto_iiib(3), "1/6 -1/6 0  1/6 1/3 0  1/6 5/6 0"),
        (lobatto_iiic(3), "1/6 -1/3 1/6  1/6 5/12 -1/12  1/6 2/3 1/6"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_lobatto_closed_forms(tableau, matrix):
    exact = [Fraction(x) for x in matrix.split()]
    flat = [Fraction(x) for row in tableau.A for x in row]
    assert max(abs(x - y) for x, y in zip(flat, exact, strict=True)) < Fraction(1, 10**49)
    # Zeros are exact, so that a stepper may leave the term out.
    assert [x == 0 for x in flat] == [x == 0 for x in exact]


@pytest.mark.parametrize("stages", range(1, 9))
def test_gauss_nodes_and_weights_against_numpy(stages):
    # Only as close as NumPy's own weights are, which lose a few units in the last place.
    nodes, weights = np.polynomial.legendre.leggauss(stages)
    np.testing.assert_allclose(gauss(stages).c_hi, (nodes + 1.0) / 2.0, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(gauss(stages).b_hi, weights / 2.0, rtol=0.0, atol=1e-15)


def test_one_stage_members():
    assert gauss(1).A == implicit_midpoint().A and gauss(1).c == implicit_midpoint().c
    assert radau_iia(1).A == implicit_euler().A and radau_iia(1).b == implicit_euler().b


# Order and structure


@pytest.mark.parametrize("stages", range(1, 9))
def test_gauss_satisfies_its_simplifying_conditions_in_forty_digits(stages):
    tableau = gauss(stages)
    assert tableau.tolerance == 1e-35
    assert simplifying_conditions(tableau) == (2 * stages, stages, stages)
    assert tableau.order == 2 * stages and tableau.symplectic and tableau.symmetric and not tableau.explicit
    strict = ButcherTableau("strict", tableau.A, tableau.b, tableau.c, order=2 * stages, tolerance=1e-40)
    assert strict.order == 2 * stages


@pytest.mark.parametrize("stages", [3, 4, 5, 8])
def test_simplifying_conditions_of_radau_and_lobatto(stages):
    s = stages
    assert simplifying_conditions(radau_iia(s)) == (2 * s - 1, s, s - 1)
    assert simplifying_conditions(lobatto_iiia(s)) == (2 * s - 2, s, s - 2)
    assert simplifying_conditions(lobatto_iiib(s)) == (2 * s - 2, s - 2, s)
    assert simplifying_conditions(lobatto_iiic(s)) == (2 * s - 2, s - 1, s - 1)


@pytest.mark.parametrize(
    ("tableau", "order", "symplectic", "symmetric", "explicit"),
    [
        (explicit_euler(), 1, False, False, True),
        (heun(), 2, False, False, True),
        (rk4(), 4, False, False, True),
        (dormand_prince5(), 5, False, False, True),
        (implicit_euler(), 1, False, False, False),
        (implicit_midpoint(), 2, True, True, False),
        (gauss(3), 6, True, True, False),
        (radau_iia(2), 3, False, False, False),
        (radau_iia(3), 5, False, False, False),
        (lobatto_iiia(4), 6, False, True, False),
        (lobatto_iiib(4), 6, False, True, False),
        (lobatto_iiic(4), 6, False, False, False),
        (sun_geng5(), 5, True, False, False),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_traits_and_order_by_trees(tableau, order, symplectic, symmetric, explicit):
    assert tableau.order == order == order_by_trees(tableau)
    assert (tableau.symplectic, tableau.symmetric, tableau.explicit) == (symplectic, symmetric, explicit)
    assert tableau.reference


def test_trees_and_butchers_theorem_agree_at_order_eight():
    assert order_by_trees(gauss(4)) == order_by_trees(gauss(5)) == 8


def test_number_of_trees():
    assert [len(rooted_trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    assert [len(rooted_trees(n, 2)) for n in range(1, 7)] == [2, 4, 14, 52, 214, 916]
    assert all(len(set(rooted_trees(n, 2))) == len(rooted_trees(n, 2)) for n in range(1, 7))


def test_density_of_tall_and_bushy_trees():
    leaf = RootedTree(0, ())
    tall = leaf
    for _ in range(5):
        tall = RootedTree(0, (tall,))
    bushy = RootedTree(0, (leaf,) * 5)
    assert (tall.order, tall.density) == (6, factorial(6))
    assert (bushy.order, bushy.density) == (6, 6)
    assert str(RootedTree(0, (leaf, RootedTree(1, (leaf,))))) == "[τ, [τ]']"


def test_adjoint():
    assert adjoint(explicit_euler()).A == implicit_euler().A
    assert largest_difference(adjoint(adjoint(radau_iia(3))).A, radau_iia(3).A) < 1e-48
    assert largest_difference(adjoint(gauss(4)).A, gauss(4).A) < 1e-48
    mirrored = adjoint(radau_iia(2))
    assert mirrored.order == 3 and abs(mirrored.c[0]) < Decimal("1e-49") and not is_symmetric(mirrored)


@pytest.mark.parametrize("stages", [3, 4, 6])
def test_symplectic_adjoint_of_lobatto_iiia_is_iiib(stages):
    pair = symplectic_adjoint(lobatto_iiia(stages))
    assert largest_difference(pair.A, lobatto_iiib(stages).A) < 1e-47
    assert pair.order == 2 * stages - 2


def test_symplectic_adjoint_of_a_symplectic_method_is_itself():
    assert largest_difference(symplectic_adjoint(gauss(5)).A, gauss(5).A) < 1e-47


def test_symplectic_adjoint_needs_nonzero_weights():
    with pytest.raises(ValueError, match=r"Dormand-Prince 5: b = .* zero weight"):
        symplectic_adjoint(dormand_prince5())


# Pairs


@pytest.mark.parametrize("stages", range(2, 9))
def test_lobatto_pair(stages):
    pair = lobatto_pair(stages)
    assert pair.order == 2 * stages - 2 and pair.symplectic and pair.symmetric and pair.stages == stages
    assert pair_order_by_trees(pair) == min(pair.order, 6)


def test_pair_conventions_give_verlet():
    pair = lobatto_pair(2)
    assert pair.position.A_hi.tolist() == [[0.0, 0.0], [0.5, 0.5]]
    assert pair.momentum.A_hi.tolist() == [[0.5, 0.0], [0.5, 0.0]]


def test_symplectic_euler_is_a_pair():
    pair = PartitionedTableau("symplectic Euler", implicit_euler(), explicit_euler(), order=1)
    assert pair.symplectic and not pair.symmetric
    assert not PartitionedTableau("twice explicit", explicit_euler(), explicit_euler(), order=1).symplectic
    with pytest.raises(
        ValueError, match=r"symplectic Euler: declared order 2, .* tree \[τ'?\]'? \(order 2\)"
    ):
        PartitionedTableau("symplectic Euler", implicit_euler(), explicit_euler(), order=2)


def test_pair_of_the_same_tableau_has_its_order():
    assert PartitionedTableau("RK4 twice", rk4(), rk4(), order=4).symplectic is False
    assert PartitionedTableau("Gauss twice", gauss(5), gauss(5), order=10).symplectic is True


def test_wrong_pairs_are_refused():
    iiia, iiib = lobatto_iiia(3), lobatto_iiib(3)
    with pytest.raises(ValueError, match="declared order 5"):
        PartitionedTableau("pair", iiia, iiib, order=5)
    with pytest.raises(ValueError, match="understated"):
        PartitionedTableau("pair", iiia, iiib, order=3)
    with pytest.raises(ValueError, match="order 16 cannot be proved"):
        PartitionedTableau("pair", lobatto_iiia(8), lobatto_iiib(8), order=16)
    with pytest.raises(ValueError, match="weights of .* differ"):
        PartitionedTableau("pair", gauss(2), radau_iia(2), order=3)
    with pytest.raises(ValueError, match="3 stages"):
        PartitionedTableau("pair", iiia, lobatto_iiib(2), order=2)


# Refusals


def test_perturbed_rk4_is_refused_with_its_tree():
    A = [list(row) for row in RK4_A]
    A[2][:2] = ["1e-9", "0.499999999"]
    with pytest.raises(
        ValueError, match=r"bent RK4: declared order 4, .* tree \[\[τ\]\] \(order 3\) .* residual 1\.667e-10"
    ):
        ButcherTableau("bent RK4", A, RK4_B, order=4)


@pytest.mark.parametrize("order", [1, 3])
def test_understated_order_is_refused(order):
    with pytest.raises(ValueError, match=f"RK4: declared order {order} is understated"):
        ButcherTableau("RK4", RK4_A, RK4_B, order=order)


def test_overstated_order_is_refused():
    with pytest.raises(ValueError, match=r"RK4: declared order 5, .* \(order 5\)"):
        ButcherTableau("RK4", RK4_A, RK4_B, order=5)


@pytest.mark.parametrize(("order", "message"), [(9, "understated"), (11, "order 11 cannot be proved")])
def test_wrong_order_above_the_trees_is_refused(order, message):
    with pytest.raises(ValueError, match=message):
        ButcherTableau("Gauss", gauss(5).A, gauss(5).b, order=order)


@pytest.mark.parametrize("stages", [3, 5])
@pytest.mark.parametrize("where", ["A", "b", "c"])
def test_gauss_with_the_thirtieth_digit_altered_is_refused(stages, where):
    tableau = gauss(stages)
    A, b, c = [list(row) for row in tableau.A], list(tableau.b), list(tableau.c)
    with localcontext(prec=60):
        if where == "A":
            A[0][1] += Decimal("1e-30")
        else:
            {"b": b, "c": c}[where][0] += Decimal("1e-30")
    message = {"A": "not the sum of row 0", "b": f"order {2 * stages}", "c": "not the sum of row 0"}[where]
    with pytest.raises(ValueError, match=message):
        ButcherTableau("altered Gauss", A, b, c, order=2 * stages)


@pytest.mark.parametrize("stages", [3, 5])
def test_gauss_altered_inside_a_row_is_refused(stages):
    A = [list(row) for row in gauss(stages).A]
    with localcontext(prec=60):
        A[0][0] += Decimal("1e-30")
        A[0][1] -= Decimal("1e-30")
    with pytest.raises(ValueError, match="altered Gauss"):
        ButcherTableau("altered Gauss", A, gauss(stages).b, gauss(stages).c, order=2 * stages)


@pytest.mark.parametrize(
    ("A", "b", "c", "message"),
    [
        ([[0, 0]], [1], None, "rows of lengths"),
        ([[0]], [1], [0, 1], "2 nodes"),
        ([], [], None, "0 weights"),
        ([["half"]], [1], None, r"A\[0\]\[0\] = 'half'"),
        ([[float("nan")]], [1], None, "not a finite number"),
        ([["1/0"]], [1], None, "not a finite number"),
        ([[0]], [float("inf")], None, r"b\[0\] = inf"),
        ([[mpmath.inf]], [1], None, "not a finite number"),
        ([[None]], [1], None, "not a finite number"),
        ([["1/2"]], [1], ["1/3"], r"c\[0\] = 0.333.* residual 1\.667e-1"),
    ],
)
def test_malformed_tableaux_are_refused(A, b, c, message):
    with pytest.raises(ValueError, match=message):
        ButcherTableau("malformed", A, b, c, order=1)


@pytest.mark.parametrize(
    "constructor", [gauss, radau_iia, lobatto_iiia, lobatto_iiib, lobatto_iiic, lobatto_pair]
)
def test_too_few_stages_are_refused(constructor):
    with pytest.raises(ValueError, match="stages = 0; it must be a whole number from [12] to 32"):
        constructor(0)


# Numbers


def test_every_way_to_write_a_number_gives_the_same_tableau():
    def midpoint(half):
        return ButcherTableau("midpoint", [[half]], [1], order=2)

    written = [
        midpoint(x) for x in ("1/2", "0.5", " 5e-1 ", Fraction(1, 2), Decimal("0.50"), mpmath.mpf("0.5"))
    ]
    assert len(set(written)) == 1
    assert hash(written[0]) == hash(written[-1])
    assert midpoint(0.5) != written[0], "a float carries its looser tolerance"


def test_tableaux_are_equal_only_by_contents():
    same = ButcherTableau("RK4", RK4_A, RK4_B, order=4, reference=rk4().reference)
    assert same == rk4() and hash(same) == hash(rk4())
    assert ButcherTableau("other", RK4_A, RK4_B, order=4, reference=rk4().reference) != rk4()
    with pytest.raises(FrozenInstanceError):
        same.order = 5  # pyright: ignore[reportAttributeAccessIssue]


def test_floats_are_held_to_their_own_precision():
    A = [[float(Fraction(x)) for x in row] for row in RK4_A]
    b = [float(Fraction(x)) for x in RK4_B]
    assert ButcherTableau("float RK4", A, b, order=4).tolerance == 1e-14
    rounded = [x.tolist() for x in (dormand_prince5().A_hi, dormand_prince5().b_hi, dormand_prince5().c_hi)]
    assert ButcherTableau("float Dormand-Prince", *rounded, order=5).order == 5
    with pytest.raises(ValueError, match="residual 1.000e-12"):
        ButcherTableau("float RK4", A, [b[0] + 1e-12, *b[1:]], order=4)


def test_short_decimals_need_a_tolerance():
    b = ["0.1666666666666667", "0.3333333333333333", "0.3333333333333333", "0.1666666666666667"]
    with pytest.raises(ValueError, match="> 1e-35"):
        ButcherTableau("printed RK4", RK4_A, b, order=4)
    assert ButcherTableau("printed RK4", RK4_A, b, order=4, tolerance=1e-15).order == 4


def test_ambient_precision_does_not_matter():
    with localcontext(prec=6), mpmath.workdps(5):
        built = gauss.__wrapped__(3)
        assert is_symplectic(built) and is_symplectic(sun_geng5.__wrapped__())
        assert symplectic_adjoint(radau_iia(3)).A == symplectic_adjoint(radau_iia.__wrapped__(3)).A
    assert built == gauss(3)


@pytest.mark.parametrize("tableau", [gauss(6), dormand_prince5(), sun_geng5()], ids=lambda t: t.name)
def test_hi_and_lo_are_correctly_rounded(tableau):
    exact = [Fraction(x) for row in (*tableau.A, tableau.b) for x in row]
    hi = np.concatenate([tableau.A_hi.ravel(), tableau.b_hi])
    lo = np.concatenate([tableau.A_lo.ravel(), tableau.b_lo])
    assert hi.dtype == lo.dtype == np.float64
    for x, h, low in zip(exact, hi, lo, strict=True):
        assert is_nearest_double(h, x)
        assert is_nearest_double(low, x - Fraction(float(h)))
        assert abs(x - Fraction(float(h)) - Fraction(float(low))) <= abs(x) * Fraction(1, 2**105)
    assert any(lo != 0.0)
    assert all(is_nearest_double(h, Fraction(x)) for h, x in zip(tableau.c_hi, tableau.c, strict=True))


def is_nearest_double(candidate: float, exact: Fraction) -> bool:
    distance = abs(Fraction(float(candidate)) - exact)
    neighbours = (np.nextafter(candidate, -np.inf), np.nextafter(candidate, np.inf))
    return all(distance <= abs(Fraction(float(x)) - exact) for x in neighbours)


def test_carelessly_rounded_coefficients_would_be_noticed():
    third = Decimal(1) / Decimal(3)
    hi, lo = doubles([third])
    assert not is_nearest_double(float(np.nextafter(hi[0], 1.0)), Fraction(third))
    assert 0.0 < abs(lo[0]) < 3e-17


def test_arrays_are_cached_and_read_only():
    tableau = gauss(2)
    assert tableau.A_hi is tableau.A_hi and tableau.b_lo is tableau.b_lo
    with pytest.raises(ValueError, match="read-only"):
        tableau.A_hi[0, 0] = 1.0
