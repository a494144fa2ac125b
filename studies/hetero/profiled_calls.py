"""Calls whose kernels NVIDIA's profiler measures; the study `hetero-profiles` starts this module.

Each call is run once before, so that nothing is compiled while the profiler is on. An empty kernel
is launched before each, by which the profiler's rows are told apart.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

import hetero
import lbm
import rode
import stablegpu
import tmd
from hetero.cuda.driver import cuda
from rode._normals.ziggurat.tables import ziggurat
from rode._paths import averages

MARK = "begin_call"
"""Name of the empty kernel before each call."""

NUMBERS = 1 << 26
"""Numbers that a call of rode draws or reads: their memory is larger than a GPU's cache."""

POINTS = 500
"""Points of a density, as in table 10 of Julian-Moreno et al. (2016)."""


Call: TypeAlias = Callable[[], object]


@cuda.jit
def begin_call() -> None:
    """Compute nothing."""


def density(evaluator: str) -> Call:
    """Return a call that evaluates a density at few points, alpha 1.5 and beta 0.5."""
    distribution = stablegpu.stable(1.5, 0.5, device="cuda", evaluator=evaluator)
    x = cuda.to_device(np.linspace(-10.0, 10.0, POINTS))
    return lambda: distribution.pdf(x)


def normal_numbers(dtype: str, settings: dict[str, Any]) -> Call:
    """Return a call that draws normal numbers, with these arguments of `rode.normal`."""
    out = cuda.device_array(NUMBERS, dtype)
    return lambda: rode.normal(rng=1, out=out, device="cuda", **settings)


def path(dtype: str, is_given: bool) -> Call:
    """Return a call that computes one long path of an Ornstein-Uhlenbeck process, by a scan.

    Its noise is drawn in the same kernel, or given, as that of Riesinger (2017) is.
    """
    out = cuda.device_array(NUMBERS, dtype)
    source: dict[str, Any] = {"rng": 1}
    if is_given:
        source = {"noise": cuda.device_array(NUMBERS, dtype)}
        rode.normal(rng=1, out=source["noise"], device="cuda")
    return lambda: rode.ornstein_uhlenbeck(
        None, 2.0**-10, method="scan", out=out, device="cuda", **source
    )


def path_sums(count: int, dtype: str) -> Call:
    """Return a call that sums up the steps of a path in windows, with `count` weights at once."""
    source = cuda.device_array(NUMBERS, dtype)
    rode.normal(rng=1, out=source, device="cuda")
    out = cuda.device_array(count * NUMBERS >> 10, dtype).reshape((count, -1))
    fill_sums = averages.loops(hetero.Device("cuda")).fill_sums
    return lambda: fill_sums(source, 1 << 10, out)


def search() -> Call:
    """Return a call that searches exp in a part of [1, 2); its longest kernel is phase 1."""
    return lambda: tmd.search("exp", (1, 1 + 2.0**-10), bits=32, device="cuda")


def step_of_moments(storage: str | None) -> Call:
    """Return a call that computes a step of a cavity whose state is moments."""
    flow = lbm.Simulation(
        (256, 256, 256), collision=lbm.RecursiveRegularized(0.51), state="moments", device="cuda",
        boundaries={"x": lbm.NoSlip(), "y": lbm.NoSlip(), "z-": lbm.NoSlip(),
                    "z+": lbm.MovingWall((0.05, 0.0, 0.0))}, storage=storage, check=0,
    )  # fmt: skip
    return lambda: flow.advance(1)


NORMALS: dict[str, dict[str, Any]] = {
    "Ziggurat, local memory": {"method": "ziggurat", "strips": 1024, "table": "local"},
    "Ziggurat, shared memory": {"method": "ziggurat", "strips": 1024, "table": "shared"},
    "rational functions, branches": {"method": "rational"},
    "rational functions, blending": {"method": "rational-blending"},
    "Wallace, shared memory": {"method": "wallace"},
    "Box-Muller": {"method": "box-muller"},
}
"""Methods of normal numbers by the names of table 8.3 of Riesinger (2017), and one more."""

SUMS = {"single averages": 1, "averages of the 3-RODE-Taylor scheme": 3}
"""Sums of a window of a path, by what needs them."""


def make_calls() -> dict[str, Callable[[], Call]]:
    """Return functions that make the calls, by what is measured."""
    makers: dict[str, Callable[[], Call]] = {
        f"density, {evaluator}": partial(density, evaluator)
        for evaluator in ("nodes", "quadrature")
    }
    makers["search of exp, [1, 2)"] = search
    makers["step by ten moments, float32"] = partial(step_of_moments, None)
    makers["step by ten moments, 16 bits"] = partial(step_of_moments, "float16")
    for dtype in ("float32", "float64"):
        for name, settings in NORMALS.items():
            makers[f"{name}, {dtype}"] = partial(normal_numbers, dtype, settings)
        makers[f"process, {dtype}"] = partial(path, dtype, False)
        makers[f"process of given noise, {dtype}"] = partial(path, dtype, True)
        for name, count in SUMS.items():
            makers[f"{name}, {dtype}"] = partial(path_sums, count, dtype)
    return makers


CALLS = make_calls()
"""Functions that make the calls, by what is measured."""


def main(names: Sequence[str]) -> None:
    """Run calls, each between a mark and the next one, while the profiler is on."""
    ziggurat(1024)
    begin_call[1, 1]()
    for name in names:
        call = CALLS[name]()
        call()
        cuda.synchronize()
        cuda.profile_start()
        begin_call[1, 1]()
        call()
        cuda.synchronize()
        cuda.profile_stop()


if __name__ == "__main__":
    main(sys.argv[1:])
