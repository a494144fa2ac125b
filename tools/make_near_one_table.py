"""Writes stablegpu/data/near_one.npz: log pdf next to alpha = 1, as Chebyshev series in alpha and
beta.

At knots u >= 0 of z = sinh(u), the standard S0 law with b = 1 + beta in [0, 2]:

    log pdf = R(u; b, alpha) + log(b + a(u; alpha)) - (1 + alpha) log cosh(u).

Far out, pdf is b times a heavy tail plus a light one that is left at b = 0; `a` is their ratio, so
R is smooth in b up to the end. Next to the middle, where pdf is smooth by itself, a = 50. Where no
light tail is left, log a = -80. In the middle pdf is smooth, but not analytic in beta at alpha = 1,
beta = 0: there series have short pieces of b.
"""

from pathlib import Path

import numpy as np
from numpy.polynomial import chebyshev

import stablegpu
from stablegpu._fit.likelihood.near_one_formulas import (
    COARSE,
    EDGE,
    EDGES,
    FINE,
    GONE,
    HALF_WIDTH,
    IN_ALPHA,
    MIDDLE,
    MIDDLE_B,
    OUTER,
    OUTER_B,
)

SMOOTH = 1.34  # u up to which a = 50
TARGET = Path(__file__).parents[1] / "stablegpu" / "data" / "near_one.npz"


def log_pdf(z, alpha, beta):
    return stablegpu.logpdf(z, alpha, beta, parameterization="S0")


def log_ratio(u, alpha):
    """log a: what is left at beta = -1 over the derivative by beta there, as far as it is small."""
    step = 1e-4
    z = np.sinh(u)
    least, more = log_pdf(z, alpha, -1.0), log_pdf(z, alpha, step - 1.0)
    rise = np.expm1(np.fmin(more - least, -GONE)) / step  # NaN: underflow of both
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(u < SMOOTH, np.log(50.0), np.maximum(-np.log(rise), GONE))


def to_series(terms: int):
    return np.linalg.inv(chebyshev.chebvander(chebyshev.chebpts1(terms), terms - 1))


def series(u, alpha, log_a, edges, terms: int):
    """Coefficients of R by knot, piece of b, term in b, term in alpha."""
    z = np.sinh(u)[:, None, None, None]
    low, high = np.array(edges[:-1])[:, None], np.array(edges[1:])[:, None]
    b = 0.5 * (low + high) + 0.5 * (high - low) * chebyshev.chebpts1(terms)
    values = log_pdf(z, alpha, (b - 1.0)[..., None])
    values += (1.0 + alpha) * np.log(np.cosh(u))[:, None, None, None]
    rest = np.log(b[..., None] + np.exp(log_a)[:, None, None, :])
    values -= rest
    return np.einsum("ib,upbj,kj->upik", to_series(terms), values, to_series(IN_ALPHA))


def table():
    """log a by knot and term in alpha; R of the middle; R of the outer knots."""
    alpha = 1.0 + HALF_WIDTH * chebyshev.chebpts1(IN_ALPHA)
    u = FINE * np.arange(MIDDLE)
    log_a = log_ratio(u[:, None], alpha)
    middle = series(u, alpha, log_a, EDGES, MIDDLE_B)
    u = EDGE + COARSE * np.arange(OUTER)
    outer = series(u, alpha, np.full((OUTER, IN_ALPHA), GONE), (0.0, 2.0), OUTER_B)
    return log_a @ to_series(IN_ALPHA).T, middle, outer


def worst_errors(count=200_000, seed=1) -> tuple:
    """Of log pdf from the table at random places: the worst with its place, the 99.9th percentile
    and the median. Half of the betas are near an end, where a light tail becomes a heavy one."""
    from hetero.jit import serial
    from stablegpu._fit.datasets import host_constants
    from stablegpu._fit.likelihood.near_one_formulas import (
        NEAREST,
        PROFILE,
        ROWS,
        log_pdf_near_one,
        profile_at,
    )

    @serial
    def values(z, alpha, beta, flat, out):
        profile = np.empty(ROWS * PROFILE)
        points = z.size // alpha.size
        for law in range(alpha.size):
            for knot in range(PROFILE):
                profile_at(knot, flat, profile, alpha[law], beta[law])
            for i in range(law * points, (law + 1) * points):
                out[i] = log_pdf_near_one(z[i], profile, alpha[law], beta[law])[0]

    rng, laws = np.random.default_rng(seed), count // 100
    alpha = 1.0 + NEAREST * rng.uniform(-1.0, 1.0, laws)
    beta = rng.uniform(-1.0, 1.0, laws)
    beta[::2] = np.sign(beta[::2]) * (1.0 - 10.0 ** rng.uniform(-6.0, -0.5, beta[::2].size))
    z, found = np.sinh(rng.uniform(-12.0, 12.0, count)), np.empty(count)
    values(z, alpha, beta, host_constants().table, found)
    alpha, beta = (np.repeat(v, 100) for v in (alpha, beta))
    exact = log_pdf(z, alpha, beta)
    fits = exact > -700.0  # no datum lies further out in a light tail
    off = np.where(fits, np.abs(found - exact), 0.0)
    k = int(np.argmax(off))
    place = {"alpha": alpha[k], "beta": beta[k], "z": z[k], "log pdf": exact[k]}
    return off[k], place, np.quantile(off[fits], 0.999), np.median(off[fits])


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
