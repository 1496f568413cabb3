"""The algebraic Riccati equation of linear-quadratic control."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import as_array, checked

SWEEPS = 60
"""Iterations of the sign function: it doubles its digits, after some that bring all eigenvalues near one."""
REFINEMENTS = 2
"""Newton steps afterwards, which take away the rounding errors of the inverses."""


@checked
def riccati(
    A: Float[Array, "n n"], B: Float[Array, "n m"], Q: Float[Array, "n n"], R: Float[Array, "m m"]
) -> Float[Array, "n n"]:
    r"""The stabilising solution $P$ of $A^T P + P A - P B R^{-1} B^T P + Q = 0$.

    By the matrix sign function $W$ of the Hamiltonian matrix $H$ (Roberts), by a Newton iteration with
    determinants as scales (Byers),

    $$ H = \begin{pmatrix} A & -B R^{-1} B^T \\ -Q & -A^T \end{pmatrix}, \qquad
       Z \leftarrow \tfrac12\bigl(c\,Z + (c\,Z)^{-1}\bigr) \to W, \qquad
       (W + I) \begin{pmatrix} I \\ P \end{pmatrix} = 0 $$

    then corrected by Newton steps on the equation itself (Kleinman). Not finite, or not a solution, where no
    feedback stabilises the system.

    Raises:
        InputError: the matrices do not fit together.
    """
    A = as_array(A, "A of riccati")
    n = len(A) if A.ndim else 1
    A, B = as_array(A, "A of riccati", (n, n)), as_array(B, "B of riccati")
    m = B.shape[-1] if B.ndim else 1
    B = as_array(B, "B of riccati", (n, m))
    Q, R = as_array(Q, "Q of riccati", (n, n)), as_array(R, "R of riccati", (m, m))
    gain = jnp.linalg.solve(R, B.T)
    S = B @ gain
    H = jnp.block([[A, -S], [-Q, -A.T]])

    def sweep(_, Z):
        inverse = jnp.linalg.inv(Z)
        # The determinant of a long matrix overflows; its logarithm does not.
        scale = jnp.exp(-jnp.linalg.slogdet(Z)[1] / (2 * n))
        return 0.5 * (scale * Z + inverse / scale)

    W = jax.lax.fori_loop(0, SWEEPS, sweep, H)
    left = jnp.concatenate([W[:n, n:], W[n:, n:] + jnp.eye(n)])
    right = -jnp.concatenate([W[:n, :n] + jnp.eye(n), W[n:, :n]])
    P = jnp.linalg.solve(left.T @ left, left.T @ right)
    for _ in range(REFINEMENTS):
        closed = A - S @ P
        P = lyapunov(closed, Q + P @ S @ P)
    return P


def lyapunov(A: Float[Array, "n n"], Q: Float[Array, "n n"]) -> Float[Array, "n n"]:
    r"""The symmetric solution $P$ of $A^T P + P A + Q = 0$, by one linear system of $n^2$ unknowns."""
    n = len(A)
    eye = jnp.asarray(np.eye(n))
    # With rows one after the other, A^T P is (A^T x I) and P A is (I x A^T).
    matrix = jnp.kron(A.T, eye) + jnp.kron(eye, A.T)
    P = jnp.linalg.solve(matrix, -Q.reshape(-1)).reshape(n, n)
    return 0.5 * (P + P.T)
