"""Estimation from one data set that does not fit into memory."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hetero import region
from hetero.arrays import Workspace
from hetero.devices import Device, resolve
from hetero.distributed.engines import Engine
from hetero.distributed.worker_devices import Devices
from stablegpu._fit.arguments import check_fixed, check_settings
from stablegpu._fit.ascents import fit_prepared
from stablegpu._fit.datasets import LARGEST_SORTED_SET, BatchFit, UnsortedDataSets
from stablegpu._fit.fitted import single_fit
from stablegpu._fit.observations.large_samples.gather import gather_sample
from stablegpu._fit.observations.streams.pieces import Observations, check_size, observations_of
from stablegpu._fit.observations.streams.sample import StreamedSample
from stablegpu.fitting import fit
from stablegpu.results import FitResult

Source: TypeAlias = str | Path | np.ndarray | Sequence[Any] | Callable[[], Iterable[Any]]
"""A place from which a data set is read; see `fit_stream`."""

PIECE = 1 << 22
"""Observations of a piece: 32 MiB of float64, which a GPU takes in 1 ms (not tuned)."""


def fit_stream(
    source: Source,
    *,
    method: str = "ml",
    parameterization: str = "S1",
    fixed: Mapping[str, Any] | None = None,
    nan_policy: str = "raise",
    piece: int = PIECE,
    progress: bool = False,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> FitResult:
    """Fit one data set of any size, read piece by piece.

    The estimates are those of `fit` of the same data, up to the order of sums: within 1e-9 of the
    standard errors in practice, and "mcculloch" to the bit.

    Parameters
    ----------
    source : path, array, list of arrays, or function
        The path of a .npy file with one dimension of real numbers; an array of one dimension, such
        as a `numpy.memmap`; a list of arrays; or a function without arguments that returns an
        iterator of arrays, and the same ones each time: the batches of a Parquet file, for example.
    method, parameterization, fixed : as for `fit`
    nan_policy : {"raise", "omit"}
        "omit" leaves NaN out.
    piece : int
        Observations of a file or an array that are read at once. Memory is needed for some three
        pieces of float64 and for tables of 10 MiB, for each device or worker. A thread reads a
        piece of a file or a memory map while the one before is computed with.
    progress : bool
        Show how many parts of each pass have been read.
    executor, comm, device : as for `fit`
        Several devices, workers and ranks share the ranges of each pass. Workers need the path of a
        file that all of them can read; ranks and devices take an array, too. Lists and functions
        are read by one device.

    Returns
    -------
    FitResult
        Its `loglik` takes another pass, at first use. Tests of goodness of fit, plots and
        intervals by profile or simulation need data in memory: `fit` a sample of them.

    Raises
    ------
    TypeError, ValueError : source is none of these, holds NaN, infinite or too few numbers, has
        more or fewer of them in a later pass, or cannot be fitted; see `fit`
    OSError : a file cannot be read
    hetero.DeviceUnavailableError

    Notes
    -----
    Data are read four times, whatever the number of evaluations: for their extremes and the first
    sixteen bits of McCulloch's quantiles, for the next bits, for the quantiles themselves, and for
    bins with their first two moments, which then stand for the data (as in `fit` of more than 8192
    observations). "mcculloch" reads them three times, "koutrouvelis" seven times. Data of which
    many are equal take up to four times more.
    """
    check_settings(method, parameterization, nan_policy)
    engine = Engine.create(device, executor, comm)
    with engine.raised_by_all():
        observations = observations_of(source, piece, nan_policy == "omit")
        _require_ranges(observations, engine)
        fixed_values = check_fixed(fixed, parameterization, method, 1)
        target = resolve(engine.local, work=observations.piece, break_even=PIECE)
    own_device = engine.kind if engine.is_elsewhere else engine.local
    with region("stable fit of a stream"):
        sample = StreamedSample(observations, engine, target, progress)
        if sample.size <= LARGEST_SORTED_SET:
            data = np.concatenate([np.empty(0), *observations])
            check_size(data.size, sample.size)
            return fit(
                data,
                method=method,
                parameterization=parameterization,
                fixed=fixed,
                device=own_device,
            )
        with target.active():
            result = _fit_sample(sample, method, parameterization, fixed_values, target)
    return dataclasses.replace(result, device=own_device, data=observations)


def _require_ranges(observations: Observations, engine: Engine) -> None:
    """Raise TypeError for data whose ranges an engine cannot read."""
    if engine.executor is not None and not isinstance(observations.source, Path):
        raise TypeError(
            "source must be the path of a .npy file with an executor: its workers read ranges of it"
        )
    if not engine.is_single and not observations.is_splittable:
        raise TypeError(
            "source must be a path or an array with comm or several devices: a list or a function "
            "has no ranges that they could share"
        )


def _fit_sample(
    sample: StreamedSample,
    method: str,
    parameterization: str,
    fixed_values: dict[str, np.ndarray],
    device: Device,
) -> FitResult:
    """Fit a sample, by its bins if need be; raise ValueError if it cannot be fitted."""
    workspace = Workspace(device)
    unsorted = UnsortedDataSets(
        workspace.output((0,)), np.zeros(1, np.int64), np.array([sample.size])
    )
    # The regression passes over the sample itself: its last estimate is taken as it is.
    by_bins = "mcculloch" if method == "koutrouvelis" else method
    batch = BatchFit(by_bins, parameterization, fixed_values, workspace, workspace)
    prepared = gather_sample(sample, unsorted, batch, method != "mcculloch")
    if method == "koutrouvelis" and np.isfinite(prepared.estimates).all():
        prepared = prepared._replace(estimates=sample.improve_estimate(prepared.estimates))
    fits = dataclasses.replace(fit_prepared(prepared, batch, [time.perf_counter()]), method=method)
    return single_fit(fits, FitResult)
