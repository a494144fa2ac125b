"""Functions of stable distributions whose parameters may be arrays: densities to random numbers.

The functions of `scipy.stats.levy_stable`, with the parameterization as an argument. For many
points of one distribution `stablegpu.stable` is far faster: it prepares quantities that these
functions compute for every point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hetero.distributed.engines import Engine
from stablegpu._density.pointwise.evaluate import evaluate_by
from stablegpu._quantiles.many import quantiles

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike

    from hetero.distributed.worker_devices import Devices


def pdf(
    x: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    out: Any = None,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Any:
    """Return the density at `x`, where the parameters may differ from point to point.

    Parameters
    ----------
    x, alpha, beta, loc, scale : array_like of float
        Arrays whose shapes broadcast: points (NaN gives NaN, +-inf the limits), alpha in (0, 2],
        beta in [-1, 1], finite loc, scale > 0. Arrays on a GPU are broadcast and evaluated there;
        with them, host arrays are copied to it. Numba's device arrays must have the shape of the
        result or one element.
    parameterization : {"S1", "S0"}
        Meaning of `loc`; see `stablegpu.stable`.
    out : array, optional
        float64, C-contiguous, the shape of the result, on the device of the arguments.
    executor : concurrent.futures.Executor, optional
        Its workers evaluate ranges of the points: see `stablegpu.stable`.
    comm : communicator of mpi4py, optional
        All its ranks call alike, share the points, and get all results.
    device : None, "auto", "cpu", "cuda", "cuda:N", hetero.Device, or several devices
        Several, such as ["cuda:0", "cuda:1"] or "cuda:all", evaluate side by side. With them, an
        executor or `comm`, all arrays must be in host memory.

    Returns
    -------
    float64 array of the broadcast shape, of the kind of the first argument on a GPU, else NumPy's;
    a float for scalars.

    Raises
    ------
    TypeError : an argument does not hold real numbers
    ValueError : shapes that do not broadcast; parameters outside their ranges, or NaN; the
        message gives the first bad value. Arrays on a GPU are not checked: bad values give NaN.
    hetero.DeviceUnavailableError : the requested device cannot be used

    Notes
    -----
    Relative error at most 1e-13 + 8 eps (|x dlogpdf/dx| + alpha |dlogpdf/dalpha|) on all 1118
    reference points: alpha in [0.1, 2], near and at 1, |x| <= 1e6, both tails, next to the ends of
    supports; median 5e-16. The same holds for all functions here.

    Each point takes a trapezoidal sum of some ninety nodes (`_density/pointwise/formulas.py`), or
    of two hundred for |alpha - 1| < 0.0125 (`_density/pointwise/near_one_formulas.py`). Quadrature
    serves alpha = 1, the far parts of light tails (beta = +-1), and light tails for
    |alpha - 1| < 0.1.
    """
    arguments = (x, alpha, beta, loc, scale)
    engine = Engine.create(device, executor, comm)
    return evaluate_by(engine, arguments, parameterization, ("pdf",), {"pdf": out})["pdf"]


def logpdf(
    x: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    out: Any = None,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Any:
    """Return the log of the density, also where the density underflows; see `pdf`."""
    arguments = (x, alpha, beta, loc, scale)
    engine = Engine.create(device, executor, comm)
    return evaluate_by(engine, arguments, parameterization, ("logpdf",), {"logpdf": out})["logpdf"]


def cdf(
    x: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    out: Any = None,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Any:
    """Return P(X <= x), to full relative accuracy in the left tail; see `pdf`."""
    arguments = (x, alpha, beta, loc, scale)
    engine = Engine.create(device, executor, comm)
    return evaluate_by(engine, arguments, parameterization, ("cdf",), {"cdf": out})["cdf"]


def logcdf(
    x: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    out: Any = None,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Any:
    """Return log P(X <= x), to full relative accuracy in both tails; see `pdf`."""
    arguments = (x, alpha, beta, loc, scale)
    engine = Engine.create(device, executor, comm)
    return evaluate_by(engine, arguments, parameterization, ("logcdf",), {"logcdf": out})["logcdf"]


def sf(
    x: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    out: Any = None,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Any:
    """Return P(X > x), to full relative accuracy in the right tail; see `pdf`."""
    arguments = (x, alpha, beta, loc, scale)
    engine = Engine.create(device, executor, comm)
    return evaluate_by(engine, arguments, parameterization, ("sf",), {"sf": out})["sf"]


def logsf(
    x: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    out: Any = None,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Any:
    """Return log P(X > x), to full relative accuracy in both tails; see `pdf`."""
    arguments = (x, alpha, beta, loc, scale)
    engine = Engine.create(device, executor, comm)
    return evaluate_by(engine, arguments, parameterization, ("logsf",), {"logsf": out})["logsf"]


def ppf(
    p: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Any:
    """Return x with cdf(x) = p, to full relative accuracy in the left tail.

    p = 0 and p = 1 give the ends of the support, NaN and values outside [0, 1] NaN. All arguments
    are in host memory, and broadcast; see `pdf`. The functions of one distribution (`stable`) take
    a hundredth of the time for many p.
    """
    engine = Engine.create(device, executor, comm)
    return quantiles((p, alpha, beta, loc, scale), parameterization, False, engine)


def isf(
    p: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Any:
    """Return x with sf(x) = p, to full relative accuracy in the right tail; see `ppf`."""
    engine = Engine.create(device, executor, comm)
    return quantiles((p, alpha, beta, loc, scale), parameterization, True, engine)


def rvs(
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    size: int | tuple[int, ...] | None = None,
    rng: Any = None,
    *,
    parameterization: str = "S1",
) -> Any:
    """Draw independent numbers of distributions whose parameters may differ.

    Parameters
    ----------
    alpha, beta, loc, scale : array_like of float in host memory, which broadcast
    size : int or tuple, optional
        Shape of the result, to which the parameters broadcast; by default their own.
    rng : None, int, SeedSequence, numpy Generator or RandomState
    parameterization : {"S1", "S0"}

    Returns
    -------
    float64 array on the host. `stable(...).rvs` draws many numbers of one distribution, also on a
    GPU; the numbers of these two functions differ.
    """
    from stablegpu._sampling.many import draw

    return draw((alpha, beta, loc, scale), parameterization, size, rng)


def pdf_cdf(
    x: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> tuple[Any, Any]:
    """Return the density and the distribution function by one evaluation; see `pdf`."""
    arguments = (x, alpha, beta, loc, scale)
    engine = Engine.create(device, executor, comm)
    result = evaluate_by(engine, arguments, parameterization, ("pdf", "cdf"))
    return result["pdf"], result["cdf"]
