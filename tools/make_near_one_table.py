"""Write stablegpu/data/near_one.npz: log pdf near alpha = 1 by Chebyshev series in alpha and beta.

The table holds, at knots u >= 0 of z = sinh(u), for standard distributions in S0 with b = 1 + beta
in [0, 2], the coefficients of `a` and `R` in

    log pdf = R(u; b, alpha) + log(b + a(u; alpha)) - (1 + alpha) log cosh(u).

In the tail, pdf is b times a heavy tail plus a light one, which alone remains at b = 0; `a` is the
ratio of the light to the heavy one, so that R is smooth in b up to b = 0. In the middle, where pdf
is smooth by itself, a = 50. Since log a falls like an exponential, the table holds the series of
log(MOST - log a). In the middle, pdf is not analytic in beta at alpha = 1, beta = 0: the series
there are over short pieces of b.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike

import stablegpu
from stablegpu._fit.likelihood.near_one_formulas import (
    COARSE,
    EDGE,
    EDGES,
    FINE,
    GONE,
    HALF_WIDTH,
    IN_ALPHA,
    LIGHT,
    MIDDLE,
    MIDDLE_B,
    MOST,
    OUTER,
    OUTER_B,
)

SMOOTH = LIGHT * FINE  # u up to which a = 50
LARGEST = 1e12  # -log a where the light tail has vanished
TARGET = Path(__file__).parents[1] / "stablegpu" / "data" / "near_one.npz"


def log_pdf(z: np.ndarray, alpha: np.ndarray, beta: ArrayLike) -> np.ndarray:
    return stablegpu.logpdf(z, alpha, beta, parameterization="S0")


def log_ratio(u: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return log a: pdf at beta = -1 over its derivative by beta, or its value in the middle."""
    step = 1e-4  # of beta, for the derivative by a difference
    z = np.sinh(u)
    with np.errstate(invalid="ignore", divide="ignore"):
        rise = log_pdf(z, alpha, step - 1.0) - log_pdf(z, alpha, -1.0)
        size = rise + np.log(-np.expm1(-rise)) - np.log(step)
    size = np.fmin(size, LARGEST)  # NaN if both underflow
    return np.where(u < SMOOTH, np.log(50.0), -size)


def to_series(terms: int) -> np.ndarray:
    """Return the matrix that turns values at Chebyshev's points into coefficients."""
    return np.linalg.inv(chebyshev.chebvander(chebyshev.chebpts1(terms), terms - 1))


def series(
    u: np.ndarray, alpha: np.ndarray, log_a: np.ndarray, edges: Sequence[float], terms: int
) -> np.ndarray:
    """Return the coefficients of R as an array [knot, piece of b, term in b, term in alpha]."""
    z = np.sinh(u)[:, None, None, None]
    low, high = np.array(edges[:-1])[:, None], np.array(edges[1:])[:, None]
    b = 0.5 * (low + high) + 0.5 * (high - low) * chebyshev.chebpts1(terms)
    values = log_pdf(z, alpha, (b - 1.0)[..., None])
    values += (1.0 + alpha) * np.log(np.cosh(u))[:, None, None, None]
    values -= np.log(b[..., None] + np.exp(log_a)[:, None, None, :])
    return np.einsum("ib,upbj,kj->upik", to_series(terms), values, to_series(IN_ALPHA))


def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log a [knot, term in alpha], and R for the knots of the middle and for the others."""
    alpha = 1.0 + HALF_WIDTH * chebyshev.chebpts1(IN_ALPHA)
    u = FINE * np.arange(MIDDLE)
    log_a = log_ratio(u[:, None], alpha)
    middle = series(u, alpha, log_a, EDGES, MIDDLE_B)
    u = EDGE + COARSE * np.arange(OUTER)
    outer = series(u, alpha, np.full((OUTER, IN_ALPHA), GONE), (0.0, 2.0), OUTER_B)
    return np.log(MOST - log_a) @ to_series(IN_ALPHA).T, middle, outer


def worst_errors(count: int = 200_000, seed: int = 1) -> tuple:
    """Return errors of log pdf from the table at random points: largest, its point, and quantiles.

    The quantiles are the 99.9th percentile and the median. Half of the betas are near an end of
    their range, where a light tail becomes a heavy one.
    """
    from hetero.jit import serial
    from stablegpu._fit.datasets import host_constants
    from stablegpu._fit.likelihood.near_one_formulas import (
        PROFILE,
        ROWS,
        log_pdf_near_one,
        profile_at,
    )
    from stablegpu._fit.likelihood.rule import FIT

    @serial
    def values(
        z: np.ndarray, alpha: np.ndarray, beta: np.ndarray, flat: np.ndarray, out: np.ndarray
    ) -> None:
        profile = np.empty(ROWS * PROFILE)
        points = z.size // alpha.size
        for d in range(alpha.size):
            for knot in range(PROFILE):
                profile_at(knot, flat, profile, alpha[d], beta[d])
            for i in range(d * points, (d + 1) * points):
                out[i] = log_pdf_near_one(z[i], profile, alpha[d], beta[d])[0]

    rng, distributions = np.random.default_rng(seed), count // 100
    alpha = 1.0 + FIT.nearest_to_one * rng.uniform(-1.0, 1.0, distributions)
    beta = rng.uniform(-1.0, 1.0, distributions)
    beta[::2] = np.sign(beta[::2]) * (1.0 - 10.0 ** rng.uniform(-6.0, -0.5, beta[::2].size))
    z, from_table = np.sinh(rng.uniform(-12.0, 12.0, count)), np.empty(count)
    values(z, alpha, beta, host_constants().table, from_table)
    alpha, beta = (np.repeat(v, 100) for v in (alpha, beta))
    exact = log_pdf(z, alpha, beta)
    occurs = exact > -700.0  # no datum lies further out in a light tail
    errors = np.where(occurs, np.abs(from_table - exact), 0.0)
    k = int(np.argmax(errors))
    point = {"alpha": alpha[k], "beta": beta[k], "z": z[k], "log pdf": exact[k]}
    return errors[k], point, np.quantile(errors[occurs], 0.999), np.median(errors[occurs])


def main() -> None:
    log_a, middle, outer = table()
    np.savez_compressed(TARGET, log_a=log_a, middle=middle, outer=outer)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")
    for part in (middle, outer):
        print(
            "last terms by b, by alpha:", np.abs(part[:, :, -1]).max(), np.abs(part[..., -1]).max()
        )
    print("errors of log pdf: worst and where, 99.9th percentile, median:", *worst_errors())


if __name__ == "__main__":
    main()
