"""Compare a stable and a normal distribution of a share's daily returns, worst days included.

    python examples/stable_distributions/returns.py [--device cpu|cuda|auto] [--out DIR] [--quick]

The data are the prices of the Google share from its first day in August 2004 to the crash of
October 2008, which come with matplotlib. The script fits both distributions by maximum likelihood,
prints how they compare and how uncertain their statements on rare days are, and draws one figure.
"""

from __future__ import annotations

import functools
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import matplotlib.cbook
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import integrate, optimize, stats

import hetero
import stablegpu
from hetero.display.figures import DATA_COLOUR, PALETTE, SOFT_COLOUR, new_figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import Figure, Row, empty, parse_arguments, to_host

TRADING_DAYS = 252
"""Trading days in a year."""

BYTES_PER_POINT = 16
"""Bytes that the density reads (x) and writes (pdf) for a point."""

STABLE_COLOUR, NORMAL_COLOUR = PALETTE[:2]


# ---- the data and the two distributions --------------------------------------------------------


def google_returns() -> tuple[np.ndarray, np.ndarray]:
    """Return the trading days and the log-returns of the Google share.

    A log-return is log(price / price of the trading day before).
    """
    table = matplotlib.cbook.get_sample_data("goog.npz")["price_data"]
    return table["date"][1:], np.diff(np.log(table["adj_close"]))


@dataclass(frozen=True)
class Fits:
    """The returns, and the two distributions fitted to them."""

    days: np.ndarray
    returns: np.ndarray
    fit: stablegpu.FitResult

    @classmethod
    def fitted(cls, device=None) -> Fits:
        """Load the returns and fit both distributions."""
        days, returns = google_returns()
        return cls(days, returns, stablegpu.fit(returns, device=device))

    @property
    def stable(self) -> stablegpu.Stable:
        """The fitted stable distribution."""
        return self.fit.distribution

    @functools.cached_property
    def normal(self):
        """The fitted normal distribution."""
        return stats.norm(self.returns.mean(), self.returns.std())

    @functools.cached_property
    def loglik(self) -> dict[str, float]:
        """Log-likelihoods of both distributions, by name."""
        return {
            "stable": self.fit.loglik,
            "normal": float(self.normal.logpdf(self.returns).sum()),
        }


def quantile(distribution: stablegpu.Stable, p: float) -> float:
    """Return x with P(X <= x) = p, as a root of the cdf or, for large p, of sf = 1 - cdf."""
    tail, target = (distribution.cdf, p) if p < 0.5 else (distribution.sf, 1.0 - p)

    def miss(x):
        return tail(x) - target

    reach = distribution.scale
    while miss(distribution.loc - reach) * miss(distribution.loc + reach) > 0.0:
        reach *= 2.0
    return optimize.brentq(miss, distribution.loc - reach, distribution.loc + reach, xtol=1e-12)


def quantiles(
    distribution: stablegpu.Stable, p: np.ndarray, reach: float, points: int
) -> np.ndarray:
    """Interpolate quantiles in a grid of the cdf over [-reach, reach]; NaN for those outside."""
    x = np.linspace(-reach, reach, points)
    return np.interp(p, distribution.cdf(x), x, left=np.nan, right=np.nan)


# ---- the report --------------------------------------------------------------------------------


def report(fits: Fits) -> list[Table]:
    """Return the comparison as tables for the terminal."""
    return [
        _likelihoods(fits),
        _tail_quantiles(fits),
        _extreme_days(fits),
    ]


def _likelihoods(fits: Fits) -> Table:
    fit, normal = fits.fit, fits.normal
    table = Table(
        "distribution",
        "parameters",
        title=f"Fits to {fit.size} daily returns",
        title_justify="left",
    )
    table.add_column("log-likelihood", justify="right")
    table.add_column("AIC", justify="right")
    described = {
        "stable": (
            4,
            f"alpha {fit.alpha:.3f}, beta {fit.beta:.3f}, scale {fit.scale:.2%}, loc {fit.loc:.2%}",
        ),
        "normal": (2, f"standard deviation {normal.std():.2%}, mean {normal.mean():.2%}"),
    }
    for distribution, (parameters, text) in described.items():
        loglik = fits.loglik[distribution]
        table.add_row(distribution, text, f"{loglik:,.1f}", f"{2 * parameters - 2 * loglik:,.1f}")
    return table


def _tail_quantiles(fits: Fits) -> Table:
    table = Table("quantile", title="Daily log-return at the tails", title_justify="left")
    for name in ("data", "stable", "normal"):
        table.add_column(name, justify="right")
    for p in (0.001, 0.01, 0.99, 0.999):
        values = (
            np.quantile(fits.returns, p),
            quantile(fits.stable, p),
            fits.normal.ppf(p),
        )
        table.add_row(f"{p:.1%}", *(f"{x:+.1%}" for x in values))
    return table


def _extreme_days(fits: Fits) -> Table:
    table = Table(
        "day",
        title="Such a day is expected once in (95 % interval)",
        title_justify="left",
    )
    for name in ("log-return", "data", "stable", "normal"):
        table.add_column(name, justify="right")
    worst, best = fits.returns.argmin(), fits.returns.argmax()
    for name, i in (("worst", worst), ("best", best)):
        x = float(fits.returns[i])
        cells = []
        for wait in (stable_wait(fits, x), normal_wait(fits, x)):
            cells.append(f"{in_words(wait.days)}\n({wait.interval_in_words()})")
        table.add_row(
            f"{name}, {fits.days[i]}", f"{x:+.1%}", in_words(float(fits.fit.size)), *cells
        )
    return table


# ---- rare days ---------------------------------------------------------------------------------


class Wait(NamedTuple):
    """Mean time in trading days between returns as extreme as one, with its uncertainty."""

    days: float
    log_error: float
    """Standard error of the logarithm of `days`."""

    def interval(self) -> tuple[float, float]:
        """Return the ends of the 95 % interval, which is symmetric in the logarithm."""
        reach = math.exp(1.96 * self.log_error)
        return self.days / reach, self.days * reach

    def interval_in_words(self) -> str:
        """Return the interval with one unit, if both ends have the same."""
        low, high = (in_words(days) for days in self.interval())
        unit = high.partition(" ")[2]
        return f"{low.removesuffix(f' {unit}')} to {high}"


def stable_wait(fits: Fits, x: float) -> Wait:
    """Return the wait under the stable fit; its error comes from the covariance of the fit."""
    names = ("alpha", "beta", "loc", "scale")
    estimate = np.array([getattr(fits.fit, name) for name in names])
    tail = "cdf" if x < 0.0 else "sf"

    def log_days(parameters: np.ndarray) -> float:
        return -math.log(getattr(stablegpu.stable(*parameters, device="cpu"), tail)(x))

    steps = np.diag([0.1 * fits.fit.stderr[name] for name in names])
    gradient = [(log_days(estimate + s) - log_days(estimate - s)) / (2.0 * s.sum()) for s in steps]
    variance = float(gradient @ fits.fit.covariance @ gradient)
    return Wait(math.exp(log_days(estimate)), math.sqrt(variance))


def normal_wait(fits: Fits, x: float) -> Wait:
    """Return the wait under the normal fit; mean and deviation have independent errors."""
    z = -abs(x - fits.normal.mean()) / fits.normal.std()
    z_error = math.sqrt((1.0 + 0.5 * z * z) / fits.returns.size)
    log_slope = stats.norm.pdf(z) / stats.norm.cdf(z)
    return Wait(1.0 / float(stats.norm.cdf(z)), float(log_slope * z_error))


def in_words(days: float) -> str:
    """Return a number of trading days with its unit, in years from one year on."""
    years = days / TRADING_DAYS
    for size, name in ((1e9, "billion "), (1e6, "million ")):
        if years >= size:
            return f"{years / size:,.0f} {name}years"
    if years >= 1000:
        return f"{float(f'{years:.2g}'):,.0f} years"
    return f"{years:.0f} years" if years >= 10 else f"{years:.1f} years"


# ---- the figure --------------------------------------------------------------------------------


def draw(fits: Fits, path: Path, quick: bool = False) -> Path:
    """Draw densities, and quantiles of both distributions against those of the data."""
    figure = new_figure((11, 4.8), dpi=150)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    density, against = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _draw_density(density, fits, 401 if quick else 2001)
    _draw_quantiles(against, fits, 1001 if quick else 8001)
    for axes in (density, against):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e7e9ee", linewidth=0.7)
        axes.set_axisbelow(True)
    figure.savefig(path)
    return path


def _draw_density(axes, fits: Fits, points: int) -> None:
    reach, bin_width = 20.0, 0.5
    x = np.linspace(-reach, reach, points)
    bins = np.arange(-reach, reach + bin_width, bin_width)
    axes.hist(100 * fits.returns, bins, density=True, color=DATA_COLOUR, label="data")
    axes.plot(x, fits.normal.pdf(x / 100) / 100, color=NORMAL_COLOUR, linewidth=2, label="normal")
    axes.plot(x, fits.stable.pdf(x / 100) / 100, color=STABLE_COLOUR, linewidth=2, label="stable")
    axes.set(yscale="log", ylim=(3e-4, 0.5), xlim=(-reach, reach))
    axes.set(xlabel="daily log-return (%)", ylabel="density (per % of log-return)")
    first, last = fits.days[[0, -1]]
    axes.set_title(f"Google share, {first} to {last}", loc="left", fontweight="bold")
    axes.legend(frameon=False, reverse=True)


def _draw_quantiles(axes, fits: Fits, points: int) -> None:
    reach = 21.0
    sample = np.sort(fits.returns)
    p = (np.arange(sample.size) + 0.5) / sample.size
    same = (-reach, reach)
    axes.plot(same, same, color=SOFT_COLOUR, linewidth=1, label="distribution = data")
    axes.plot(100 * fits.normal.ppf(p), 100 * sample, ".", color=NORMAL_COLOUR, label="normal")
    values = 100 * quantiles(fits.stable, p, reach / 100, points)
    axes.plot(values, 100 * sample, ".", color=STABLE_COLOUR, label="stable")
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xlabel="quantile of the distribution (%)", ylabel="quantile of the data (%)")
    axes.set_title("Quantiles against quantiles", loc="left", fontweight="bold")
    outside = int(np.isnan(values).sum())
    if outside:
        axes.text(
            0.98,
            0.03,
            f"{outside} points of the stable distribution\nlie beyond the axes",
            transform=axes.transAxes,
            horizontalalignment="right",
            color="#5b626d",
            fontsize="small",
        )
    axes.legend(frameon=False, reverse=True, markerscale=2, loc="upper left")


# ---- for the tour ------------------------------------------------------------------------------


def figures(out: Path, device: hetero.Device, quick: bool) -> list[Figure]:
    """Draw the figure of this example, with values from `device`."""
    fits = Fits.fitted(device)
    first, last = fits.days[[0, -1]]
    worst = fits.returns.argmin()
    loss = float(fits.returns[worst])
    waits = [
        f"{in_words(wait.days)} (95 % interval {wait.interval_in_words()})"
        for wait in (stable_wait(fits, loss), normal_wait(fits, loss))
    ]
    caption = (
        f"{fits.fit.size} daily log-returns, {first} to {last}, with the stable distribution "
        f"(alpha {fits.fit.alpha:.2f} ± {fits.fit.stderr['alpha']:.2f}) and the normal "
        f"distribution of maximum likelihood. How often should one expect a day like the worst, "
        f"{fits.days[worst]} with a log-return of {100 * loss:.1f} %? Under "
        f"the stable fit once in {waits[0]}, under the normal fit once in {waits[1]}. "
        f"The data have one in {in_words(float(fits.fit.size))}. "
        "The intervals contain the uncertainty of the parameters; they assume independent days "
        "and that the distribution is right."
    )
    path = draw(fits, out / "stable_returns.png", quick)
    return [
        Figure(
            "How often is a day as bad as the worst one?",
            caption,
            path,
            "python examples/stable_distributions/returns.py",
            ("Nolan1997", "Chambers1976"),
        )
    ]


def tour(out: Path, device: hetero.Device, quick: bool) -> list[Row]:
    """Measure and check density, samples and fit on `device`."""
    on_cpu = device.kind == "cpu"
    points = (20_000 if quick else 200_000) if on_cpu else (1_000_000 if quick else 10_000_000)
    draws = (200_000 if quick else 2_000_000) if on_cpu else (10_000_000 if quick else 100_000_000)
    fits = Fits.fitted(device)
    with device.active():
        return [
            _density_row(fits, device, points),
            _samples_row(fits, device, draws),
            _fit_row(fits, device),
        ]


def _density_row(fits: Fits, device: hetero.Device, points: int) -> Row:
    x = fits.stable.rvs(rng=1, out=empty(points, device))
    distribution, out = fits.stable.plan(), empty(points, device)
    timing = hetero.benchmark(lambda: distribution.pdf(x, out=out), repeats=5, device=device)
    rate = timing.rate(points)
    errors = [np.abs(values / exact - 1.0).max() for values, exact in _densities(fits, x, out)]
    error = float(max(errors))
    return Row(
        job=f"density of the returns' distribution, {points:,} points",
        device=str(device),
        rate=rate / 1e6,
        unit="M points/s",
        fraction_of_limit=rate * BYTES_PER_POINT / hetero.limits(device).copy,
        limit="copy bandwidth",
        check=f"largest relative error {error:.1e}",
        passed=error <= 1e-12,
        tolerance="1e-12, against closed forms and Fourier integrals",
    )


def _densities(fits: Fits, x, pdf):
    """Yield (values, exact values) for three closed forms, and for the last of the timed points."""
    device = fits.stable.device
    z = np.linspace(-6.0, 6.0, 25)
    yield stablegpu.stable(2, 0, device=device).pdf(z), stats.norm.pdf(z, scale=math.sqrt(2))
    yield stablegpu.stable(1, 0, device=device).pdf(z), 1.0 / (math.pi * (1.0 + z * z))
    y = np.geomspace(0.05, 100.0, 25)
    levy = np.exp(-0.5 / y) / (math.sqrt(2.0 * math.pi) * y**1.5)
    yield stablegpu.stable(0.5, 1, device=device).pdf(y), levy
    fit = fits.fit
    z = (to_host(x[-50:]) - fit.loc) / fit.scale
    near = np.abs(z) < 6.0  # in the far tails the Fourier integral has fewer correct digits
    exact = np.array([_by_fourier(fit.alpha, fit.beta, v) / fit.scale for v in z[near]])
    yield to_host(pdf[-50:])[near], exact


def _by_fourier(alpha: float, beta: float, z: float) -> float:
    """Return the density of a standard distribution in S1, by Fourier inversion."""
    skew = beta * math.tan(0.5 * math.pi * alpha)

    def integrand(t):
        return math.exp(-(t**alpha)) * math.cos(z * t - skew * t**alpha)

    end = 40.0 ** (1.0 / alpha)
    return integrate.quad(integrand, 0.0, end, epsabs=1e-13, epsrel=0.0, limit=400)[0] / math.pi


def _samples_row(fits: Fits, device: hetero.Device, draws: int) -> Row:
    samples = empty(draws, device)
    timing = hetero.benchmark(lambda: fits.stable.rvs(rng=2, out=samples), repeats=5, device=device)
    rate = timing.rate(draws)
    checked = 100_000  # draws, enough to detect an error of 0.1 in alpha
    # The check is Kolmogorov and Smirnov's distance of the last draws from their distribution.
    uniform = np.sort(to_host(fits.stable.cdf(samples[-checked:])))
    rank = np.arange(checked)
    distance = max((uniform - rank / checked).max(), ((rank + 1) / checked - uniform).max())
    critical = 1.95 / math.sqrt(checked)  # exceeded by chance once in a thousand seeds
    return Row(
        job=f"samples of the returns' distribution, {draws:,}",
        device=str(device),
        rate=rate / 1e6,
        unit="M samples/s",
        fraction_of_limit=rate * samples.dtype.itemsize / hetero.limits(device).copy,
        limit="copy bandwidth",
        check=f"Kolmogorov-Smirnov distance {distance:.4f} from the distribution function",
        passed=bool(distance < critical),
        tolerance=f"{critical:.4f}, which one seed in a thousand exceeds by chance",
    )


def _fit_row(fits: Fits, device: hetero.Device) -> Row:
    timing = hetero.benchmark(lambda: stablegpu.fit(fits.returns, device=device), device=device)
    gain = fits.loglik["stable"] - fits.loglik["normal"] - 2.0
    low, high = fits.fit.interval()["alpha"]
    return Row(
        job=f"maximum-likelihood fit of the {fits.fit.size} returns",
        device=str(device),
        rate=timing.rate(1),
        unit="fits/s",
        fraction_of_limit=None,
        limit="",
        check=f"alpha {low:.2f} to {high:.2f} (95 %), AIC {2.0 * gain:.0f} below the normal's",
        passed=gain > 50.0 and high < 2.0,
        tolerance="alpha below 2, the normal's, and an AIC lower by 100: the tails are heavy",
    )


def main() -> int:
    """Print the comparison, draw the figure and return the exit code."""
    options = parse_arguments(__doc__.splitlines()[0], "out/stable_returns")
    fits = Fits.fitted(options.device)
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log file has no width
    for table in report(fits):
        console.print(table)
    console.print(f"Figure: {draw(fits, options.out / 'stable_returns.png', options.quick)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
