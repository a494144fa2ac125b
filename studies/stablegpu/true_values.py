"""True values at many points, kept in a file so that an interrupted study can continue."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

import hetero
from studies.stablegpu import ball_oracle

FIELDS = ("pdf", "cdf", "sf", "logpdf", "error", "dx", "dalpha")
_CHUNK = 25


def truths(
    points: Iterable[Sequence[float]],
    path: Path,
    *,
    processes: int = 1,
    slopes: bool = True,
) -> np.ndarray:
    """Return the oracle's values at `points` of standard S0 distributions.

    Parameters
    ----------
    points : sequence of (alpha, beta, x)
    path : file of JSON lines with values computed before; new ones are appended
    processes : number of processes that compute
    slopes : compute dx and dalpha too (else they are 0)

    Returns
    -------
    float64 array of len(points) rows, columns as FIELDS. `error` is the oracle's own relative
    error; rows of NaN: the oracle does not resolve the point (underflow).
    """
    keys = [tuple(map(float, point)) for point in points]
    cached = _read(path)
    missing = [point for point in dict.fromkeys(keys) if point not in cached]
    chunks = [missing[i : i + _CHUNK] for i in range(0, len(missing), _CHUNK)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for chunk in _computed(chunks, processes, slopes):
            cached |= chunk
            file.writelines(json.dumps([*key, *row]) + "\n" for key, row in chunk.items())
            file.flush()
    return np.array([cached[key] for key in keys]).reshape(len(keys), len(FIELDS))


def _computed(chunks: list[list[tuple]], processes: int, slopes: bool) -> Iterator[dict]:
    if processes == 1 or len(chunks) < 2:
        yield from (_solve(chunk, slopes) for chunk in hetero.progress(chunks, "true values"))
        return
    # Not forked: threads may run already.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = [pool.submit(_solve, chunk, slopes) for chunk in chunks]
        done = hetero.progress(list(range(len(chunks))), "true values")
        for future, _ in zip(as_completed(waiting), done, strict=True):
            yield future.result()


def _solve(chunk: list[tuple], slopes: bool) -> dict:
    return {point: _row(point, slopes) for point in chunk}


def _row(point: tuple, slopes: bool) -> list[float]:
    alpha, beta, x = point
    try:
        true = ball_oracle.evaluate(x, alpha, beta, slopes=slopes)
    except ball_oracle.NotResolved:
        return [float("nan")] * len(FIELDS)
    balls = (true.pdf, true.cdf, true.sf, true.pdf.log())
    return [*(float(ball.mid()) for ball in balls), true.error, true.dx, true.dalpha]


def _read(path: Path) -> dict:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {tuple(row[:3]): row[3:] for row in rows}


def fair(true: np.ndarray) -> np.ndarray:
    """Return the relative errors that a few roundings of x and alpha bring, at rows of `truths`."""
    dx, dalpha = true[:, FIELDS.index("dx")], true[:, FIELDS.index("dalpha")]
    return 1e-13 + 8.0 * np.finfo(float).eps * (np.abs(dx) + np.abs(dalpha))
