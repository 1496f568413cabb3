r"""Composition schemes: symmetric bases of order 2, and bases with their adjoints.

The decimals below solve the order conditions to all digits given. The published values, of 15 to 26 digits,
were the starting point of Newton's method; where a family leaves parameters free, the first entries are the
published digits taken as exact, and each docstring says how many. Every scheme is a palindrome, so only its
first half is listed; the middle entries follow from the sums being 1.

Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), V.3.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache

from .._composition_scheme import CompositionScheme, splitting_weights
from .._digits import Coefficient, working_precision

HAIRER = "Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), "


def _palindrome(name: str, order: int, half: Sequence[str | Decimal], reference: str) -> CompositionScheme:
    r"""The scheme $\gamma_1, \dots, \gamma_k, 1 - 2 \sum \gamma_i, \gamma_k, \dots, \gamma_1$."""
    first = [Decimal(x) for x in half]
    with working_precision():
        middle = 1 - 2 * sum(first)
    return CompositionScheme(name, [*first, middle, *first[::-1]], order=order, reference=reference)


def _splitting(
    name: str, order: int, a: Sequence[str], b: Sequence[str], reference: str
) -> CompositionScheme:
    r"""A palindromic splitting with $a_{k+1} = 1 - 2 \sum a_i$ and $b_{l+1} = 1/2 - \sum b_i$."""
    along_a, along_b = [Decimal(x) for x in a], [Decimal(x) for x in b]
    with working_precision():
        along_a = [*along_a, 1 - 2 * sum(along_a), *along_a[::-1]]
        along_b = [*along_b, Decimal(1) / 2 - sum(along_b)]
        weights = splitting_weights(along_a, [*along_b, *along_b[::-1]])
    return CompositionScheme(name, weights, order=order, base="adjoint pair", reference=reference)


def _root(radicand: int, degree: int) -> Decimal:
    with working_precision():
        return Decimal(radicand) ** (Decimal(1) / degree)


@cache
def yoshida4() -> CompositionScheme:
    r"""Triple jump of order 4: $\gamma_1 = 1/(2 - 2^{1/3})$, three stages."""
    with working_precision():
        gamma = 1 / (2 - _root(2, 3))
    return _palindrome("Yoshida 4", 4, [gamma], "Yoshida, Phys. Lett. A 150 (1990); " + HAIRER + "II (4.4)")


@cache
def suzuki4() -> CompositionScheme:
    r"""Suzuki's scheme of order 4: $\gamma_1 = \gamma_2 = 1/(4 - 4^{1/3})$, five stages."""
    with working_precision():
        gamma = 1 / (4 - _root(4, 3))
    return _palindrome(
        "Suzuki 4", 4, [gamma, gamma], "Suzuki, Phys. Lett. A 146 (1990); " + HAIRER + "II (4.5)"
    )


@cache
def mclachlan4() -> CompositionScheme:
    r"""McLachlan's scheme of order 4 with five stages; one parameter, $\gamma_1 = 0.28$."""
    half = ["0.28", "0.625466428467670045012338905492649012918216"]
    return _palindrome("McLachlan 4", 4, half, "McLachlan, SIAM J. Sci. Comput. 16 (1995), SS, m = 5")


@cache
def yoshida6() -> CompositionScheme:
    """Yoshida's scheme of order 6, solution A, with seven stages; an isolated solution."""
    half = [
        "0.784513610477557263819497633866349875776824",
        "0.235573213359358133684793182978534601686468",
        "-1.17767998417887100694641568096431573463927",
    ]
    reference = "Yoshida, Phys. Lett. A 150 (1990), table 1, solution A; " + HAIRER + "V (3.11)"
    return _palindrome("Yoshida 6", 6, half, reference)


@cache
def kahan_li6() -> CompositionScheme:
    r"""Kahan and Li's scheme of order 6 with nine stages; one parameter, $\gamma_1$ as published."""
    half = [
        "0.39216144400731413927925056",
        "0.332599136789359438599748634257274355737334",
        "-0.70624617255763935980996481963491035103934",
        "0.0822135962935508002314904488531569176963106",
    ]
    return _palindrome(
        "Kahan-Li 6", 6, half, "Kahan, Li, Math. Comp. 66 (1997), s9odr6a; " + HAIRER + "V (3.12)"
    )


@cache
def mclachlan6() -> CompositionScheme:
    r"""McLachlan's scheme of order 6 with nine stages; one parameter, $\gamma_1 = 0.1867$."""
    half = [
        "0.1867",
        "0.555497023712478399156913543628391200964057",
        "0.129466948913475358056045209210204780816800",
        "-0.843265623387734608549142781384814989869039",
    ]
    return _palindrome("McLachlan 6", 6, half, "McLachlan, SIAM J. Sci. Comput. 16 (1995), SS, m = 9")


@cache
def yoshida8() -> CompositionScheme:
    """Yoshida's scheme of order 8, solution D, with fifteen stages; an isolated solution.

    This is the solution most codes use. The printed digits are off by up to 3e-13 and violate the order
    conditions by 3e-12. `mclachlan8` has as many stages and much smaller error terms.
    """
    half = [
        "0.914844246229791566748793489847509604518120",
        "0.253693336566211354146146020689942076097653",
        "-1.44485223686060515769473065753739035495591",
        "-0.158240635368050175204066776759754247755445",
        "1.93813913762252598657918648744364176095359",
        "-1.96061023297531080760763337639966364079243",
        "0.102799849391796440698115131601225862911016",
    ]
    return _palindrome("Yoshida 8", 8, half, "Yoshida, Phys. Lett. A 150 (1990), table 2, solution D")


@cache
def mclachlan8() -> CompositionScheme:
    """Scheme of order 8 with fifteen stages by Suzuki and Umeno and by McLachlan; an isolated solution."""
    half = [
        "0.741670364350612953448227801783806315603537",
        "-0.409100825800031593997300095893563417309918",
        "0.190754710296238379953876256450371662735461",
        "-0.573862471116082266656387726635535742159509",
        "0.299064181303655923844463540688602988225823",
        "0.334624918245298183784957979882182288633692",
        "0.315293092396766596632056663811002430994081",
    ]
    reference = "Suzuki, Umeno (1993); McLachlan, SIAM J. Sci. Comput. 16 (1995); " + HAIRER + "V (3.13)"
    return _palindrome("McLachlan 8", 8, half, reference)


@cache
def kahan_li8() -> CompositionScheme:
    r"""Kahan and Li's scheme of order 8 with seventeen stages; one parameter, $\gamma_1$ as published."""
    half = [
        "0.13020248308889008087881763",
        "0.561162981775108384561964407682000102649863",
        "-0.389474962644847286408078593043166997128495",
        "0.158841906555155600896210746677682393213505",
        "-0.395903894133237577336231543466131671452410",
        "0.184539640978315707091832543364086516175002",
        "0.258374387686322047293979111695425973702570",
        "0.295011723609310298870966236757462976621285",
    ]
    return _palindrome(
        "Kahan-Li 8", 8, half, "Kahan, Li, Math. Comp. 66 (1997), s17odr8a; " + HAIRER + "V (3.14)"
    )


@cache
def mclachlan4_pair() -> CompositionScheme:
    r"""McLachlan's scheme of order 4 for a base and its adjoint, with five pairs.

    $$ \beta_1 = \alpha_5 = \tfrac{14 - r}{108}, \quad \alpha_1 = \beta_5 = \tfrac{146 + 5r}{540}, \quad
       \beta_2 = \alpha_4 = \tfrac{-23 - 20r}{270}, \quad \alpha_2 = \beta_4 = \tfrac{-2 + 10r}{135}, \quad
       \beta_3 = \alpha_3 = \tfrac15, \quad r = \sqrt{19}. $$
    """
    with working_precision():
        r = _root(19, 2)
        half: list[Coefficient] = [
            (14 - r) / 108,
            (146 + 5 * r) / 540,
            (-23 - 20 * r) / 270,
            (-2 + 10 * r) / 135,
            "1/5",
        ]
    reference = "McLachlan, SIAM J. Sci. Comput. 16 (1995), S, m = 5; " + HAIRER + "V.3.1"
    return CompositionScheme(
        "McLachlan 4 (adjoint pair)", [*half, *half[::-1]], order=4, base="adjoint pair", reference=reference
    )


@cache
def blanes_moan4() -> CompositionScheme:
    r"""Blanes and Moan's S6 of order 4 with six pairs; three parameters, $a_1, a_2, a_3$ as published."""
    return _splitting(
        "Blanes-Moan 4",
        4,
        a=["0.0792036964311957", "0.353172906049774", "-0.0420650803577195"],
        b=["0.209515106613362088883405339606592007120815", "-0.143851773179818114565389056334200686833855"],
        reference="Blanes, Moan, J. Comput. Appl. Math. 142 (2002), table 2, S6",
    )


@cache
def blanes_moan6() -> CompositionScheme:
    r"""Blanes and Moan's S10 of order 6 with ten pairs; one parameter, $a_1$ as published."""
    return _splitting(
        "Blanes-Moan 6",
        6,
        a=[
            "0.0502627644003922",
            "0.413514300428348280764209253255138114149686",
            "0.0450798897943974211608542852757026623955981",
            "-0.188054853819572834204124900735074375035274",
            "0.541960678450781754723292263234705650176817",
        ],
        b=[
            "0.148816447901042589908187280537323712859617",
            "-0.132385865767782209619702251588944972760032",
            "0.0673076046921852373718361905790506189051134",
            "0.432666402578172088198748915901779274874621",
        ],
        reference="Blanes, Moan, J. Comput. Appl. Math. 142 (2002), table 2, S10",
    )


COMPOSITION_SCHEMES: dict[str, Callable[[], CompositionScheme]] = {
    "yoshida4": yoshida4,
    "suzuki4": suzuki4,
    "mclachlan4": mclachlan4,
    "yoshida6": yoshida6,
    "kahan-li6": kahan_li6,
    "mclachlan6": mclachlan6,
    "yoshida8": yoshida8,
    "mclachlan8": mclachlan8,
    "kahan-li8": kahan_li8,
    "mclachlan4-pair": mclachlan4_pair,
    "blanes-moan4": blanes_moan4,
    "blanes-moan6": blanes_moan6,
}
"""Short names of the schemes; calling an entry builds and validates the scheme once."""
