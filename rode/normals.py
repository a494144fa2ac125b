"""Normal random numbers by several methods, from counter-based words."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from hetero import memory, philox, region, validation
from hetero.arrays import Workspace
from hetero.devices import Device, device_of, parse, resolve
from rode import _normals
from rode._normals import wallace, ziggurat
from rode._normals.launches import Words
from rode._normals.wallace.pool_shape import POOL_SHAPE

Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator | np.random.RandomState | None
"""Types of the argument `rng`; see `hetero.philox.key`."""

DEFAULT_STRIPS = 4096
"""Number of a Ziggurat's strips, if the caller does not say."""

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

MAX_POOLS = 1 << 32
"""Number of Wallace's pools that a `Generator` can take its numbers from."""

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
    strips: int = DEFAULT_STRIPS,
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
    _check_method(method, dtype)
    validation.check_choice("table", table, ("shared", "local"))
    shape = _shape(size, out)
    path = validation.check_integer("path", path, 0, 2**32 - 1)
    strips = validation.check_integer("strips", strips, 2, 8192)
    fill = functools.partial(_fill, method, _edges(method, strips, table, dtype), table == "shared")
    return _draw(fill, Words(philox.key(rng), path, STREAM), 0, shape, dtype, out, device)


def _check_method(method: str, dtype: np.dtype) -> None:
    """Raise ValueError unless there is such a method, for numbers of this type."""
    validation.check_choice("method", method, METHODS)
    if method == "box-muller-fast" and dtype != np.float32:
        raise ValueError("method='box-muller-fast' is for dtype=float32; use 'box-muller'")


def _shape(size: Any, out: Any) -> tuple[int, ...]:
    """Return the shape of a result."""
    if size is None and out is not None:
        return tuple(out.shape)
    return validation.check_shape("size", size)


def _draw(
    fill: Callable[[Words, Any, Workspace], None],
    words: Words,
    skipped: int,
    shape: tuple[int, ...],
    dtype: np.dtype,
    out: Any,
    device: Device | str | None,
) -> Any:
    """Return numbers that `fill` makes of words, without the first `skipped` ones."""
    size = math.prod(shape)
    device = resolve(device, out, work=size, break_even=BREAK_EVEN)
    with device.active(), region("normals"):
        memory.require_array("normal numbers", shape, dtype, places_of(device, out))
        work = Workspace(device, out)
        array = work.output(shape, dtype, out)
        if size:
            if skipped:
                array = work.output((skipped + size,), dtype)
            fill(words, array, work)
        return work.result(array[skipped:] if size and skipped else array, shape, out)


def _fill(
    method: str, edges: np.ndarray, in_shared: bool, words: Words, array: Any, work: Workspace
) -> None:
    """Fill a flat array by a method; `edges` are those of a Ziggurat's strips."""
    family = method.partition("-")[0]
    if family == "ziggurat":
        ziggurat.loops(work.device).fill(words, edges, in_shared, array, work.stream)
    elif family == "wallace":
        wallace.loops(work.device).fill(words, method == "wallace", array, work.stream)
    else:
        if method == "inverse" and array.dtype == np.float64:
            method = "rational"
        _normals.loops(work.device).fill(method, words, array, work.stream)


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

    `standard_normal(5)` and then `standard_normal(6)` are the numbers of `standard_normal(11)`.
    After a call with another dtype the numbers go on at the next block of four random words, and
    those of Wallace's method at the next pool of 65536 numbers.

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
        dtype = float_type(dtype)
        _check_method(method, dtype)
        parse(device)
        self._seeds = np.random.SeedSequence([int(w) for w in philox.key(rng)])
        self._key = philox.key(self._seeds)
        self._settings: dict[str, Any] = {"method": method, "dtype": dtype, "device": device}
        # The next number is number `_used` of block `_first` of words, or of that pool of Wallace.
        self._first, self._used, self._dtype = 0, 0, dtype

    def __repr__(self) -> str:
        dtype, method = np.dtype(self._settings["dtype"]).name, self._settings["method"]
        return f"Generator(method={method!r}, dtype={dtype!r})"

    def standard_normal(
        self,
        size: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
    ) -> Any:
        """Draw the next standard normal numbers.

        Parameters
        ----------
        size, out : as for `normal`
        dtype : {float64, float32}, by default that of the generator

        Raises
        ------
        TypeError, ValueError
            If an argument is invalid; the message names it.
        RuntimeError
            All numbers of Wallace's method, 2^48, were drawn.
        """
        method, device = self._settings["method"], self._settings["device"]
        real = float_type(self._settings["dtype"] if dtype is None else dtype, out)
        _check_method(method, real)
        shape = _shape(size, out)
        is_wallace = method.startswith("wallace")
        unit = POOL_SHAPE.numbers if is_wallace else 16 // real.itemsize
        if real != self._dtype and self._used:
            self._first, self._used = self._first + 1, 0
        end = self._used + math.prod(shape)
        if is_wallace and self._first + -(-end // unit) > MAX_POOLS:
            raise RuntimeError("this generator has given all of its numbers: make another one")
        fill = functools.partial(
            _fill, method, _edges(method, DEFAULT_STRIPS, "shared", real), True
        )
        words = Words(self._key, 0, STREAM, self._first)
        numbers = _draw(fill, words, self._used, shape, real, out, device)
        self._first, self._used, self._dtype = self._first + end // unit, end % unit, real
        return numbers

    def normal(
        self, loc: float = 0.0, scale: float = 1.0, size: int | tuple[int, ...] | None = None
    ) -> Any:
        """Draw normal numbers of mean `loc` and standard deviation `scale` (host arrays)."""
        loc = validation.check_finite("loc", loc)
        scale = validation.check_in_range("scale", scale, 0.0, math.inf)
        numbers = self.standard_normal(size)
        return numbers * numbers.dtype.type(scale) + numbers.dtype.type(loc)

    def spawn(self, count: int) -> list[Generator]:
        """Return independent generators with the same settings."""
        count = validation.check_integer("count", count, 0, MAX_SPAWNED)
        return [Generator(seed, **self._settings) for seed in self._seeds.spawn(count)]
