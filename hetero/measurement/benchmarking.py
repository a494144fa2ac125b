"""Timing of functions: the first call, which compiles, apart; then warm-up, median and spread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from hetero import validation
from hetero.devices import Device, resolve

MAX_REPEATS = 100_000
"""Largest number of samples of `benchmark`, whose median needs far fewer."""

MAX_TIME = 3600.0
"""Longest time of a sample of `benchmark` in seconds."""


@dataclass(frozen=True)
class Timing:
    """Result of `benchmark`. All times are in seconds per call.

    Attributes
    ----------
    first : the very first call: compilation, transfers, caches
    median, best, worst : over the `repeats` samples after the warm-up
    calls : calls in each sample (more than one for very short work)
    clock : "wall" (host, waiting for the device) or "device" (CUDA events: kernels alone)
    """

    first: float
    median: float
    best: float
    worst: float
    repeats: int
    calls: int
    clock: str
    device: str

    @property
    def spread(self) -> float:
        """Difference of the longest and the shortest time over the median."""
        return (self.worst - self.best) / self.median

    def rate(self, items: float) -> float:
        """Return `items` per second at the median."""
        return items / self.median

    def as_dict(self) -> dict:
        """Return the fields and the spread, for JSON."""
        return asdict(self) | {"spread": self.spread}

    def _repr_html_(self) -> str:
        from hetero.display.notebook import html_text

        return html_text(str(self))

    def __str__(self) -> str:
        return (
            f"{self.median * 1e3:.4g} ms (best {self.best * 1e3:.4g}, worst {self.worst * 1e3:.4g},"
            f" {self.repeats} x {self.calls}, {self.clock} clock; first call {self.first:.3g} s)"
        )


def benchmark(
    function: Callable[[], object],
    *,
    repeats: int = 7,
    min_time: float = 0.01,
    clock: str = "wall",
    device: str | Device | None = None,
) -> Timing:
    """Time `function()`.

    What the function does is what is timed: if it takes host arrays, transfers are in; if it
    takes device arrays, they are out.

    Parameters
    ----------
    repeats : int
        Samples; at least 5.
    min_time : float
        Seconds; short calls are repeated within a sample until it lasts this long.
    clock : {"wall", "device"}
        Host clock with a synchronisation at the end, or CUDA events (GPU only).
    """
    if not callable(function):
        raise TypeError(f"function must be callable, got {validation.describe(function)}")
    repeats = validation.check_integer("repeats", repeats, 5, MAX_REPEATS)
    min_time = validation.check_in_range("min_time", min_time, 0.0, MAX_TIME)
    device = resolve(device)
    validation.check_choice("clock", clock, ("wall", "device"))
    if clock == "device" and device.kind == "cpu":
        raise ValueError("clock='device' needs a GPU: use clock='wall'")
    sample = _wall if clock == "wall" else _events
    with device.active():
        first = _wall(function, 1, device)
        once = sample(function, 1, device)
        calls = max(1, int(min_time / max(once, 1e-9)))
        sample(function, calls, device)  # warm-up
        times = [sample(function, calls, device) / calls for _ in range(repeats)]
    return Timing(
        first, statistics.median(times), min(times), max(times), repeats, calls, clock, str(device)
    )


def _wall(function: Callable[[], object], calls: int, device: Device) -> float:
    device.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        function()
    device.synchronize()
    return time.perf_counter() - start


def _events(function: Callable[[], object], calls: int, device: Device) -> float:
    from hetero.cuda.driver import cuda

    start, stop = cuda.event(timing=True), cuda.event(timing=True)
    start.record()
    for _ in range(calls):
        function()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) * 1e-3
