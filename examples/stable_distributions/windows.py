"""Estimate alpha with its uncertainty: share returns, rolling windows of a year, and an EEG.

    python examples/stable_distributions/windows.py [--device cpu|cuda|auto] [--out DIR] [--quick]

The script fits stable distributions by maximum likelihood, with standard errors and intervals, to
the daily returns of the Google share, to every window of a year along the series, and to the four
channels of the EEG that comes with matplotlib, whose differences are compared with a normal
distribution. It draws one figure.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.cbook
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

import hetero
import stablegpu
from hetero.display.figures import DATA_COLOUR, new_figure
from stablegpu import FitResults

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import Figure, Row, parse_arguments
from stable_distributions.returns import STABLE_COLOUR, TRADING_DAYS, google_returns


def eeg() -> np.ndarray:
    """Return the differences between successive samples of four channels, a row for each."""
    with matplotlib.cbook.get_sample_data("eeg.dat") as file:
        return np.diff(np.frombuffer(file.read(), float).reshape(800, 4).T)


def fit_years(returns, device, step: int) -> FitResults:
    """Fit windows of a year of trading days, each begun `step` days after the one before."""
    return stablegpu.fit_windows(returns, TRADING_DAYS, step=step, device=device)


def report(returns, device) -> list[Table]:
    """Return tables of estimates with errors, for the share and the EEG."""
    fit = stablegpu.fit(returns, device=device)
    share = Table("parameter", "estimate", "standard error", "95 % interval", title="Google share")
    for name, (low, high) in fit.interval().items():
        error = fit.stderr[name]
        share.add_row(name, f"{getattr(fit, name):.4f}", f"{error:.4f}", f"{low:.4f} to {high:.4f}")
    channels = eeg()
    fits = stablegpu.fit(channels, device=device)
    table = Table("channel", "alpha", "AIC, stable", "AIC, normal", title="EEG, differences")
    for k, channel in enumerate(channels):
        alpha = f"{fits.alpha[k]:.3f} ± {fits.stderr['alpha'][k]:.3f}"
        table.add_row(str(k), alpha, f"{fits.aic[k]:.1f}", f"{normal_aic(channel):.1f}")
    return [share, table]


def normal_aic(x) -> float:
    """Return Akaike's criterion of the normal distribution that fits x best."""
    return 4.0 - 2.0 * stats.norm(x.mean(), x.std()).logpdf(x).sum()


def draw(days, returns, fits, step: int, path: Path) -> Path:
    """Draw alpha of the windows with 95 % bands above the returns; return the path."""
    figure = new_figure((9.0, 5.0))
    above, below = figure.subplots(2, 1, sharex=True)
    ends = days[TRADING_DAYS - 1 :: step][: len(fits)]
    reach = 1.96 * fits.stderr["alpha"]
    low, high = fits.alpha - reach, np.minimum(fits.alpha + reach, 2.0)
    above.fill_between(ends, low, high, color=STABLE_COLOUR, alpha=0.25, linewidth=0.0)
    above.plot(ends, fits.alpha, color=STABLE_COLOUR)
    above.set(ylabel="alpha of the year before", ylim=(1.0, 2.02))
    below.vlines(days, 0.0, returns, color=DATA_COLOUR)
    below.set(ylabel="daily log-return")
    figure.savefig(path, dpi=120)
    return path


def figures(out: Path, device: hetero.Device, quick: bool) -> list[Figure]:
    """Draw the figure of this example, with values from `device`."""
    days, returns = google_returns()
    step = 20 if quick else 1
    fits = fit_years(returns, device, step)
    path = draw(days, returns, fits, step, out / "stable_windows.png")
    caption = (
        f"The tail index alpha in {len(fits)} windows of a year ({TRADING_DAYS} trading days), by "
        "maximum likelihood, with 95 % bands from the observed information. Windows without a band "
        "have alpha = 2: the normal distribution."
    )
    command = "python examples/stable_distributions/windows.py"
    return [Figure("How heavy were the tails, year by year?", caption, path, command)]


def tour(out: Path, device: hetero.Device, quick: bool) -> list[Row]:
    """Measure the fits of all windows on `device`; check one of them by the exact density."""
    _, returns = google_returns()
    step = 20 if quick else 1
    timing = hetero.benchmark(lambda: fit_years(returns, device, step), repeats=5, device=device)
    fits = fit_years(returns, device, step)
    middle = len(fits) // 2
    distribution = stablegpu.stable(
        *(getattr(fits, name)[middle] for name in ("alpha", "beta", "loc", "scale")), device="cpu"
    )
    first = middle * step
    exact = float(distribution.logpdf(returns[first : first + TRADING_DAYS]).sum())
    error = abs(exact - fits.loglik[middle])
    return [
        Row(
            job=f"maximum-likelihood fits of {len(fits)} windows of {TRADING_DAYS} days",
            device=str(device),
            rate=timing.rate(len(fits)),
            unit="fits/s",
            fraction_of_limit=None,
            limit="",
            check=f"all converged; log-likelihood of one off by {error:.1e}"
            if fits.converged.all()
            else f"{int((~fits.converged).sum())} did not converge",
            passed=error <= 1e-6 and bool(fits.converged.all()),
            tolerance="1e-6, against the exact density",
        )
    ]


def main() -> int:
    """Print the tables, draw the figure and return the exit code."""
    options = parse_arguments(__doc__.splitlines()[0], "out/stable_windows")
    days, returns = google_returns()
    console = Console(width=None if sys.stdout.isatty() else 120)
    for table in report(returns, options.device):
        console.print(table)
    step = 20 if options.quick else 1
    fits = fit_years(returns, options.device, step)
    path = draw(days, returns, fits, step, options.out / "stable_windows.png")
    console.print(f"Fitted {len(fits)} windows. Figure: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
