"""Composition schemes: solved again from the published digits, and tried on a pendulum.

Three independent ways lead to each scheme's order: Newton's method on the order conditions of Lyndon words,
a representation of the letters by random nilpotent matrices, and the error against elliptic functions.
"""

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

import mpmath
import pytest
from mpmath import mp, mpf

from poinsot.integrators._composition_scheme import CompositionScheme, order_residuals, splitting_weights
from poinsot.integrators._free_algebra import words
from poinsot.integrators.coefficients import COMPOSITION_SCHEMES, blanes_moan6, kahan_li6, yoshida4, yoshida6

Real = Any  # an mpf; mpmath has no types

# Published digits, and how many of the first ones are parameters of a family.
SYMMETRIC = {
    "mclachlan4": ("0.28 0.62546642846767004501", 1),
    "yoshida6": (
        "0.78451361047755726381949763 0.23557321335935813368479318 -1.17767998417887100694641568",
        0,
    ),
    "kahan-li6": (
        "0.39216144400731413927925056 0.33259913678935943859974864 -0.70624617255763935980996482 "
        "0.08221359629355080023149045",
        1,
    ),
    "mclachlan6": ("0.1867 0.55549702371247839916 0.12946694891347535806 -0.84326562338773460855", 1),
    "yoshida8": (
        "0.914844246229740 0.253693336566229 -1.44485223686048 -0.158240635368243 1.93813913762276 "
        "-1.96061023297549 0.102799849391985",
        0,
    ),
    "mclachlan8": (
        "0.74167036435061295344822780 -0.40910082580003159399730010 0.19075471029623837995387626 "
        "-0.57386247111608226665638773 0.29906418130365592384446354 0.33462491824529818378495798 "
        "0.31529309239676659663205666",
        0,
    ),
    "kahan-li8": (
        "0.13020248308889008087881763 0.56116298177510838456196441 -0.38947496264484728640807860 "
        "0.15884190655515560089621075 -0.39590389413323757733623154 0.18453964097831570709183254 "
        "0.25837438768632204729397911 0.29501172360931029887096624",
        1,
    ),
}
# Published a and b, and how many of the first a are parameters.
SPLITTING = {
    "blanes-moan4": (
        "0.0792036964311957 0.353172906049774 -0.0420650803577195",
        "0.209515106613362 -0.143851773179818",
        3,
    ),
    "blanes-moan6": (
        "0.0502627644003922 0.413514300428344 0.0450798897943977 -0.188054853819569 0.541960678450780",
        "0.148816447901042 -0.132385865767784 0.067307604692185 0.432666402578175",
        1,
    ),
}
ALL = [pytest.param(build(), id=name) for name, build in COMPOSITION_SCHEMES.items()]


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def numbers(text: str) -> list[Real]:
    return [mpf(x) for x in text.split()]


def mpf_weights(scheme: CompositionScheme) -> list[Real]:
    return [mpf(str(weight)) for weight in scheme.weights]


# Newton's method on Lyndon words, whose coefficients determine a product of exponentials


def word_coefficient(word: tuple[int, ...], weights: list[Real], pair: bool) -> Real:
    """Coefficient of a word in the product, by sweeping over the factors with all prefixes of the word."""
    prefix = [mpf(1)] + [mpf(0)] * len(word)
    for index, weight in enumerate(weights):
        sign = -1 if pair and index % 2 == 0 else 1
        letters = [weight**k * sign ** (k - 1) for k in word]
        prefix = [
            sum(prefix[j] * mpmath.fprod(letters[j:k]) / mpmath.factorial(k - j) for j in range(k + 1))
            for k in range(len(prefix))
        ]
    return prefix[-1]


def newton(
    start: list[Real], free: int, weights_of: Callable[[list[Real]], list[Real]], order: int, pair: bool
):
    """Solve the conditions of odd degree, the only ones left for a palindrome, keeping `free` entries."""
    letters = tuple(range(1, order, 1 if pair else 2))
    lyndon = [
        word
        for degree in range(3, order, 2)
        for word in words(letters, degree)
        if all(word < word[cut:] + word[:cut] for cut in range(1, len(word)))
    ]
    kept, unknown = start[:free], mp.matrix(start[free:])
    assert len(lyndon) == len(unknown), "as many conditions as unknowns"

    def conditions(values: Any) -> Any:
        weights = weights_of(kept + list(values))
        return mp.matrix([word_coefficient(word, weights, pair) for word in lyndon])

    for _ in range(4):
        defect = conditions(unknown)
        jacobian = mp.matrix(len(lyndon), len(lyndon))
        for j in range(len(lyndon)):
            moved = unknown.copy()
            moved[j] += mpf(10) ** -25
            column = (conditions(moved) - defect) * mpf(10) ** 25
            for i in range(len(lyndon)):
                jacobian[i, j] = column[i]
        unknown -= mp.lu_solve(jacobian, defect)
    assert max(abs(x) for x in conditions(unknown)) < mpf(10) ** -50
    return kept + list(unknown)


def palindrome(half: list[Real]) -> list[Real]:
    return [*half, 1 - 2 * mpmath.fsum(half), *half[::-1]]


def full_splitting(values: list[Real], length: int) -> tuple[list[Real], list[Real]]:
    b = [*values[length:], mpf(1) / 2 - mpmath.fsum(values[length:])]
    return palindrome(values[:length]), b + b[::-1]


def assert_close(actual: list[Real], expected: list[Real], bound: str):
    assert len(actual) == len(expected)
    assert max(abs(x - y) for x, y in zip(actual, expected, strict=True)) < mpf(bound)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_stored_symmetric_schemes_solve_the_conditions_from_published_digits(name):
    scheme = COMPOSITION_SCHEMES[name]()
    published, free = SYMMETRIC[name]
    start = numbers(published)
    solution = palindrome(newton(start, free, palindrome, scheme.order, pair=False))
    assert_close(mpf_weights(scheme), solution, "1e-38")
    assert_close(palindrome(start), solution, "1e-12")


@pytest.mark.parametrize("name", SPLITTING)
def test_stored_splitting_schemes_solve_the_conditions_from_published_digits(name):
    scheme = COMPOSITION_SCHEMES[name]()
    a, b, free = SPLITTING[name]
    start, length = numbers(a) + numbers(b), len(a.split())

    def weights(values: list[Real]) -> list[Real]:
        along_a, along_b = full_splitting(values, length)
        sequence = [along_a[0]]
        for i, step in enumerate(along_b):
            alpha = step - sequence[-1]
            sequence += [alpha, along_a[i + 1] - alpha]
        return sequence[:-1]

    solution = weights(newton(start, free, weights, scheme.order, pair=True))
    assert_close(mpf_weights(scheme), solution, "1e-38")
    assert_close(weights(start), solution, "1e-13")


def test_closed_forms():
    cube = mpf(2) ** (mpf(1) / 3)
    assert_close(mpf_weights(yoshida4()), palindrome([1 / (2 - cube)]), "1e-48")
    gamma = 1 / (4 - cube**2)
    assert_close(mpf_weights(COMPOSITION_SCHEMES["suzuki4"]()), palindrome([gamma, gamma]), "1e-48")


# A representation: letter k on the k-th superdiagonal, so that degrees above the size vanish


def exponential(matrix):
    term = result = mp.eye(matrix.rows)
    for n in range(1, matrix.rows):
        term = term * matrix / n
        result += term
    return result


def representation_defect(scheme: CompositionScheme, degree: int) -> Real:
    random, size, pair = Random(degree), degree + 1, scheme.base == "adjoint pair"
    letters = {k: mp.zeros(size) for k in range(1, size, 1 if pair else 2)}
    for k, letter in letters.items():
        for i in range(size - k):
            letter[i, i + k] = mpf(random.randint(-9, 9)) / 5
    product = mp.eye(size)
    for kind, weight in scheme.steps:
        w, sign = mpf(str(weight)), -1 if kind == "adjoint" else 1
        terms = [letter * w**k * sign ** (k - 1) for k, letter in letters.items()]
        product = product * exponential(sum(terms[1:], start=terms[0]))
    return mp.mnorm(product - exponential(letters[1]), 1)


@pytest.mark.parametrize("scheme", ALL)
def test_order_in_a_matrix_representation(scheme):
    assert representation_defect(scheme, scheme.order) < mpf("1e-37")
    assert representation_defect(scheme, scheme.order + 1) > mpf("1e-4"), "the next order must fail"


# A pendulum, p^2/2 - cos q, with the exact solution sin(q/2) = k sn(t), p = 2k cn(t)

K = mpf(4) / 10


def drift(state, h):
    return state[0] + h * state[1], state[1]


def kick(state, h):
    return state[0], state[1] - h * mpmath.sin(state[0])


def base(state, h):
    return drift(kick(state, h), h)


def adjoint(state, h):
    return kick(drift(state, h), h)


def verlet(state, h):
    return base(adjoint(state, h / 2), h / 2)


def composed_step(scheme: CompositionScheme, state, h):
    first_order = {"base": base, "adjoint": adjoint}
    maps = {"base": verlet} if scheme.base == "symmetric" else first_order
    for kind, weight in scheme.steps:
        state = maps[kind](state, mpf(str(weight)) * h)
    return state


def pendulum_error(scheme: CompositionScheme, steps: int) -> Real:
    end, state = mpf(1), (mpf(0), 2 * K)
    for _ in range(steps):
        state = composed_step(scheme, state, end / steps)
    exact_q = 2 * mpmath.asin(K * mpmath.ellipfun("sn", end, k=K))
    exact_p = 2 * K * mpmath.ellipfun("cn", end, k=K)
    return abs(state[0] - exact_q) + abs(state[1] - exact_p)


@pytest.mark.parametrize("scheme", ALL)
def test_slope_of_the_global_error_on_a_pendulum(scheme):
    with mpmath.workdps(40):
        errors = [pendulum_error(scheme, steps) for steps in (10, 20, 40)]
        slopes = [float(mpmath.log(x / y, 2)) for x, y in pairwise(errors)]
    assert slopes == pytest.approx([scheme.order] * 2, abs=0.05)


def test_verlet_alone_has_slope_two():
    with mpmath.workdps(40):
        errors = [pendulum_error(CompositionScheme("once", [1], order=2), n) for n in (20, 40)]
    assert abs(float(mpmath.log(errors[0] / errors[1], 2)) - 2.0) < 0.01


# What a scheme says of itself


@pytest.mark.parametrize("scheme", ALL)
def test_schemes_are_palindromes_that_sum_to_one(scheme):
    assert scheme.symmetric and scheme.reference and scheme.tolerance == 1e-35
    assert abs(mpmath.fsum(mpf_weights(scheme)) - 1) < mpf("1e-40") * len(scheme.weights)
    assert max(residual for _, residual in order_residuals(scheme, scheme.order)) < Decimal("1e-38")
    assert [float(w) for w in scheme.weights] == scheme.weights_hi.tolist()
    assert all(abs(lo) < 2e-16 for lo in scheme.weights_lo) and any(scheme.weights_lo != 0.0)


def test_stages():
    counts = {name: build().stages for name, build in COMPOSITION_SCHEMES.items()}
    assert counts == {
        "yoshida4": 3,
        "suzuki4": 5,
        "mclachlan4": 5,
        "yoshida6": 7,
        "kahan-li6": 9,
        "mclachlan6": 9,
        "yoshida8": 15,
        "mclachlan8": 15,
        "kahan-li8": 17,
        "mclachlan4-pair": 5,
        "blanes-moan4": 6,
        "blanes-moan6": 10,
    }


def test_steps_name_the_map_that_acts_first():
    assert [kind for kind, _ in blanes_moan6().steps[:4]] == ["adjoint", "base", "adjoint", "base"]
    assert {kind for kind, _ in kahan_li6().steps} == {"base"}


def test_splitting_weights_compose_to_the_splitting():
    """Ruth's scheme of order 3, which is no palindrome, applied both ways to the pendulum."""
    a = [Decimal(x) for x in ("7", "18", "-1", "0")]
    a = [x / 24 for x in a]
    b = [Decimal(2) / 3, -Decimal(2) / 3, Decimal(1)]
    scheme = CompositionScheme(
        "Ruth 3", splitting_weights(a, b), order=3, base="adjoint pair", tolerance=1e-26
    )
    assert not scheme.symmetric
    state = direct = (mpf("0.3"), mpf("0.7"))
    h = mpf("0.1")
    for along_a, along_b in zip(a[:-1], b, strict=True):
        direct = kick(drift(direct, mpf(str(along_a)) * h), mpf(str(along_b)) * h)
    assert_close(list(composed_step(scheme, state, h)), list(direct), "1e-27")
    reverse = (mpf("0.3"), mpf("0.7"))
    for along_a, along_b in zip(a[:-1], b, strict=True):
        reverse = drift(kick(reverse, mpf(str(along_a)) * h), mpf(str(along_b)) * h)
    assert abs(reverse[0] - direct[0]) > 1e-6, "the order of the maps matters here"


def test_number_of_words():
    assert [len(words((1, 3, 5, 7), n)) for n in range(1, 9)] == [1, 1, 2, 3, 5, 8, 13, 21]
    assert [len(words((1, 2, 3, 4, 5, 6), n)) for n in range(1, 7)] == [1, 2, 4, 8, 16, 32]


# Refusals


def test_published_digits_of_yoshida8_are_refused():
    half = [Decimal(x) for x in SYMMETRIC["yoshida8"][0].split()]
    weights = [*half, 1 - 2 * sum(half), *half[::-1]]
    with pytest.raises(ValueError, match=r"printed: .* word Y3 \(order 3\) .* residual 4\.329e-14"):
        CompositionScheme("printed", weights, order=8)
    loose = CompositionScheme("printed", weights, order=8, tolerance=1e-10)
    assert 1e-12 < max(residual for _, residual in order_residuals(loose, 8)) < 1e-11


def test_perturbed_weights_are_refused():
    weights = list(yoshida6().weights)
    weights[1] += Decimal("1e-20")
    with pytest.raises(
        ValueError, match=r"bent: declared order 6, .* word Y1 \(order 1\) .* residual 1\.000e-20"
    ):
        CompositionScheme("bent", weights, order=6)
    weights[-2] -= Decimal("1e-20")
    with pytest.raises(ValueError, match="bent: declared order 6"):
        CompositionScheme("bent", weights, order=6)


@pytest.mark.parametrize(("order", "message"), [(8, r"\(order 7\)"), (5, "understated"), (4, "understated")])
def test_wrong_order_is_refused(order, message):
    with pytest.raises(ValueError, match=message):
        CompositionScheme("Yoshida", yoshida6().weights, order=order)


def test_a_symmetric_scheme_does_not_serve_an_arbitrary_base():
    halves = [weight / 2 for weight in yoshida4().weights for _ in range(2)]
    assert CompositionScheme("split halves", halves, order=4, base="adjoint pair", tolerance=1e-25).order == 4
    with pytest.raises(ValueError, match="word Y2"):
        weights = [x for weight in yoshida4().weights for x in (weight, Decimal(0))]
        CompositionScheme("base alone", weights, order=4, base="adjoint pair")


@pytest.mark.parametrize(
    ("weights", "base_kind", "message"),
    [
        ([], "symmetric", "0 weights"),
        (["1/2", "1/4", "1/4"], "adjoint pair", "an even number"),
        ([1], "other", "base = 'other'; it must be 'symmetric' or 'adjoint pair'"),
        (["one"], "symmetric", r"weights\[0\] = 'one'"),
    ],
)
def test_malformed_schemes_are_refused(weights, base_kind, message):
    with pytest.raises(ValueError, match=message):
        CompositionScheme("malformed", weights, order=2, base=base_kind)


def test_schemes_are_hashable_by_contents():
    again = CompositionScheme("Yoshida 4", yoshida4().weights, order=4, reference=yoshida4().reference)
    assert again == yoshida4() and len({again, yoshida4(), yoshida6()}) == 2
    floats = CompositionScheme("Yoshida 4", yoshida4().weights_hi.tolist(), order=4)
    assert floats.tolerance == 1e-14 and floats != yoshida4()
