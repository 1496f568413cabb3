r"""Order conditions of compositions, as words in letters that do not commute.

A smooth one-step method of order 1 and its adjoint are, as formal series of differential operators,

$$ \chi_h = \exp(h Y_1 + h^2 Y_2 + h^3 Y_3 + \dots), \qquad
   \chi^*_h = \chi_{-h}^{-1} = \exp(h Y_1 - h^2 Y_2 + h^3 Y_3 - \dots), $$

and a symmetric method has only the letters $Y_1, Y_3, Y_5, \dots$. The exact flow is $\exp(h Y_1)$. A product
of such series has order $p$ for every base method exactly when each word
$Y_{k_1} Y_{k_2} \cdots Y_{k_m}$ of degree $k_1 + \dots + k_m \le p$ has the coefficient of the exact flow:
$1/m!$ if all its letters are $Y_1$, else zero. In $\exp(\sum_k w_k Y_k)$ that coefficient is
$w_{k_1} \cdots w_{k_m} / m!$.

Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), III.3 and III.5.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from itertools import accumulate
from math import factorial, prod

Word = tuple[int, ...]
Series = dict[Word, Decimal]


@cache
def words(letters: tuple[int, ...], degree: int) -> tuple[Word, ...]:
    """All words of the given degree; letter `k` has degree `k`."""
    if degree == 0:
        return ((),)
    return tuple((k, *rest) for k in letters if k <= degree for rest in words(letters, degree - k))


def _exponential(letters: dict[int, Decimal], alphabet: Sequence[Word]) -> Series:
    """Coefficients of the exponential of a combination of letters."""
    return {
        word: prod((letters[k] for k in word), start=Decimal(1)) / factorial(len(word)) for word in alphabet
    }


def _product(left: Series, right: Series) -> Series:
    """The product, in which a word collects all ways to cut it in two."""
    return {
        word: sum((left[word[:cut]] * right[word[cut:]] for cut in range(len(word) + 1)), Decimal(0))
        for word in left
    }


def _powers(weight: Decimal, letters: tuple[int, ...], sign: int) -> dict[int, Decimal]:
    """Coefficients of the letters in one factor; `sign` is -1 for the adjoint, which flips the even ones."""
    power = list(accumulate([weight] * max(letters), lambda x, y: x * y, initial=Decimal(1)))
    return {k: power[k] * sign ** (k - 1) for k in letters}


def composition_residuals(
    factors: Iterable[tuple[Decimal, int]], letters: tuple[int, ...], max_degree: int
) -> Iterator[tuple[Word, Decimal]]:
    """Defects of the coefficients of all words up to a degree, shortest degree first.

    Args:
        factors: Weight of each step in the order of the product, with 1 for the method or -1 for its adjoint.
        letters: The letters of the base method.
        max_degree: Largest degree of a word.
    """
    alphabet = [word for degree in range(max_degree + 1) for word in words(letters, degree)]
    series = {word: Decimal(not word) for word in alphabet}
    for weight, sign in factors:
        series = _product(series, _exponential(_powers(weight, letters, sign), alphabet))
    for word in alphabet:
        flow = Decimal(set(word) <= {1}) / factorial(len(word))
        yield word, abs(series[word] - flow)
