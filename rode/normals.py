"""Normal random numbers by several methods, from counter-based words."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from hetero import memory, philox, region, validation
from hetero.arrays import Workspace
from hetero.devices import Device, device_of, parse, resolve
from rode import _normals
from rode._normals import wallace, ziggurat

Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator | np.random.RandomState | None
"""Types of the argument `rng`; see `hetero.philox.key`."""

BREAK_EVEN = 1_000_000
"""Number of normals above which a GPU is faster, including the copy to the host."""

METHODS = (
    "box-muller",
    "box-muller-fast",
    "inverse",
    "rational",
    "rational-blending",
    "ziggurat",
    "wallace",
    "wallace-uncorrected",
)

MAX_SPAWNED = 1 << 20
"""Largest number of generators that one call of `Generator.spawn` makes."""

FLOATS = ("float64", "float32")
"""Names of the data types that results may have."""

STREAM = philox.STREAMS["rode.normal"]
"""Stream word of the Philox counter: `normal` shares no words with other uses of a seed."""


def normal(
    size: int | tuple[int, ...] | None = None,
    *,
    dtype: DTypeLike = np.float64,
    method: str = "box-muller",
    rng: Seed = None,
    path: int = 0,
    strips: int = 4096,
    table: str = "shared",
    out: Any = None,
    device: Device | str | None = None,
) -> Any:
    """Draw independent standard normal numbers.

    Parameters
    ----------
    size : int, tuple of int or None
        Shape; None draws one number, or as many as `out` holds.
    dtype : {float64, float32}
    method : str
        - "box-muller": Box and Muller (1958); the default
        - "box-muller-fast": float32 only, by the GPU's own logarithm, sine and cosine
        - "inverse": the normal quantile of one uniform number; in float32 by polynomials of a
          logarithm, in float64 the same as "rational"
        - "rational", "rational-blending": the quantile by Wichura's rational functions (AS 241),
          chosen by a branch, or by a selection after all three are computed
        - "ziggurat": Marsaglia and Tsang (2000) with `strips` strips
        - "wallace": Wallace's pool of numbers (1996); "wallace-uncorrected" keeps the constant
          sum of squares of a pool, for comparison only
    rng : None, int, SeedSequence, numpy Generator or RandomState
    path : int in [0, 2^32)
        Independent sequences of one seed.
    strips : power of two from 2 to 8192
        With more strips fewer warps of a GPU wait for a rejected draw: 4096 strips are 2.7 times
        as fast as 256. The table is computed once, in 0.3 s.
    table : {"shared", "local"}
        Where a GPU keeps the strips' table: shared memory, or global memory and its cache.
    out : array to fill; in one on a GPU, such as a CuPy array, the numbers stay there
    device : the device that draws

    Returns
    -------
    NumPy array of `dtype` (a scalar for size None), or `out`

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid; the message names it.

    Notes
    -----
    The same seed gives the same words on every device, number i always from the same ones: on one
    device the same floats for any launch and any number of threads, and a longer request starts
    with the shorter one ("wallace": within a pool of 65536 numbers each). On another device the
    floats differ by a few ulp ("inverse" in float32 and "box-muller-fast": 1e-6); a Ziggurat's
    draw within rounding of the edge of a strip may be rejected on one device only.

    Errors against the exact transform of the words: "box-muller" 2.3 ulp (float32) and 2.1
    (float64), |x| < 6.77 and 8.58; "inverse" in float32 |x| < 6.24; "rational" 2.9 and 3.5 ulp,
    |x| < 6.24 and 8.21. "ziggurat" has 24 bits in float32 and 51 in float64 in each strip, and a
    tail without end. Wallace's numbers are sums of others: statistics over the four numbers of a
    rotation, two rotations apart, are not independent.
    """
    dtype = float_type(dtype, out)
    validation.check_choice("method", method, METHODS)
    validation.check_choice("table", table, ("shared", "local"))
    shape = (
        tuple(out.shape)
        if size is None and out is not None
        else validation.check_shape("size", size)
    )
    path = validation.check_integer("path", path, 0, 2**32 - 1)
    strips = validation.check_integer("strips", strips, 2, 8192)
    if method == "box-muller-fast" and dtype != np.float32:
        raise ValueError("method='box-muller-fast' is for dtype=float32; use 'box-muller'")
    edges = _edges(method, strips, table, dtype)
    key = philox.key(rng)
    device = resolve(device, out, work=math.prod(shape), break_even=BREAK_EVEN)
    with device.active(), region("normals"):
        memory.require_array("normal numbers", shape, dtype, places_of(device, out))
        work = Workspace(device, out)
        array = work.output(shape, dtype, out)
        if array.size:
            family = method.partition("-")[0]
            if family == "ziggurat":
                ziggurat.loops(device).fill(
                    key, path, STREAM, edges, table == "shared", array, work.stream
                )
            elif family == "wallace":
                is_corrected = method == "wallace"
                wallace.loops(device).fill(key, path, STREAM, is_corrected, array, work.stream)
            else:
                if method == "inverse" and dtype == np.float64:
                    method = "rational"
                _normals.loops(device).fill(method, key, path, STREAM, array, work.stream)
        return work.result(array, shape, out)


def places_of(device: Device, out: Any, like: Any = None) -> list[Device]:
    """Return the devices on which a result takes new memory.

    `like` is the input whose library the result follows. What a GPU draws for the host takes
    memory on both.
    """
    on_gpu = device.kind == "cuda" and device_of(out) is None
    on_host = out is None and device_of(like) is None
    return [device] * on_gpu + [Device("cpu")] * on_host


def float_type(dtype: DTypeLike, out: Any = None) -> np.dtype:
    """Return the data type of `out`, or `dtype`; raise ValueError unless float32 or float64."""
    if out is not None and not hasattr(out, "dtype"):
        raise TypeError(f"out must be an array, got {type(out).__name__}")
    checked = validation.check_dtype("dtype", dtype, FLOATS)
    if out is None:
        return checked
    return validation.check_dtype("dtype of out", str(out.dtype).removeprefix("torch."), FLOATS)


def _edges(method: str, strips: int, table: str, dtype: np.dtype) -> np.ndarray:
    """Return the edges of a Ziggurat's strips; there are none for other methods."""
    if method != "ziggurat":
        return np.empty(0)
    from rode._normals.ziggurat import tables

    edges = tables.ziggurat(strips).x
    if table == "shared" and not fits_in_shared_memory(strips, dtype):
        raise ValueError(
            f"strips={strips} in {dtype} do not fit into shared memory; use table='local'"
        )
    return edges


def fits_in_shared_memory(strips: int, dtype: DTypeLike) -> bool:
    """Return whether the table of a Ziggurat fits into the shared memory of any GPU."""
    from hetero.cuda.launch import DEFAULT_SHARED_MEMORY

    return (strips + 1) * np.dtype(dtype).itemsize <= DEFAULT_SHARED_MEMORY


class Generator:
    """Generator of normal numbers that continues from call to call, as NumPy's generators do.

    Parameters
    ----------
    rng : the seed, as for `normal`
    method, dtype : as for `normal`
    device : the device that draws

    Examples
    --------
    >>> generator = Generator(1)
    >>> generator.normal(size=3).shape
    (3,)
    """

    def __init__(
        self,
        rng: Seed = None,
        *,
        method: str = "box-muller",
        dtype: DTypeLike = np.float64,
        device: Device | str | None = None,
    ) -> None:
        validation.check_choice("method", method, METHODS)
        dtype = float_type(dtype)
        if method == "box-muller-fast" and dtype != np.float32:
            raise ValueError("method='box-muller-fast' is for dtype=float32; use 'box-muller'")
        parse(device)
        self._key = np.random.SeedSequence([int(w) for w in philox.key(rng)])
        self._calls = 0
        self._settings: dict[str, Any] = {"method": method, "dtype": dtype, "device": device}

    def __repr__(self) -> str:
        dtype, method = np.dtype(self._settings["dtype"]).name, self._settings["method"]
        return f"Generator(method={method!r}, dtype={dtype!r}, calls={self._calls})"

    def standard_normal(
        self,
        size: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
    ) -> Any:
        """Draw standard normal numbers; every call takes the next of 2^32 sequences."""
        if self._calls >= 2**32:
            raise RuntimeError("this generator has given all of its 2^32 sequences")
        settings = self._settings | ({} if dtype is None else {"dtype": dtype})
        numbers = normal(size, rng=self._key, path=self._calls, out=out, **settings)
        self._calls += 1
        return numbers

    def normal(
        self, loc: float = 0.0, scale: float = 1.0, size: int | tuple[int, ...] | None = None
    ) -> Any:
        """Draw normal numbers of mean `loc` and standard deviation `scale` (host arrays)."""
        loc, scale = (
            validation.check_finite("loc", loc),
            validation.check_in_range("scale", scale, 0.0, math.inf),
        )
        numbers = self.standard_normal(size)
        return numbers * numbers.dtype.type(scale) + numbers.dtype.type(loc)

    def spawn(self, count: int) -> list[Generator]:
        """Return independent generators with the same settings."""
        count = validation.check_integer("count", count, 0, MAX_SPAWNED)
        return [Generator(seed, **self._settings) for seed in self._key.spawn(count)]
