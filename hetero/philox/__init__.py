"""Counter-based random numbers: the same words on any device, thread count and launch shape.

Philox4x32 with ten rounds (seven pass BigCrush too and are faster). The counter is (block: two
words, path, stream), the key is the seed: a simulation gives every path its own number and counts
its steps in blocks, and nothing depends on which thread does the work.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from hetero import validation
from hetero.arrays import Array, Stream, Workspace
from hetero.devices import Device, resolve

ROUNDS = 10
"""Rounds of the generator: Salmon et al. (2011) recommend ten."""

STREAMS = {
    "lbm.SyntheticEddies": 0xEDD1,
    "lbm.SyntheticEddies, phases": 0xEDD2,
    "rode.solve": 0x0DE,
    "rode.ornstein_uhlenbeck": 0x0F00,
    "rode.ornstein_uhlenbeck, ends of tiles": 0x0F01,
    "rode.normal": 0x60A1,
    "stablegpu.rvs": 0x57AB1E,
}
"""Counter words by which functions that get the same seed draw different words: one per use."""


class Loops(Protocol):
    """Fills of arrays with random words, or with uniform numbers made of them."""

    def fill(
        self,
        key: tuple[np.uint32, np.uint32],
        path: int,
        stream: int,
        rounds: int,
        out: Array,
        launch_stream: Stream = 0,
    ) -> None:
        """Fill `out` (uint32: words; floats: uniform numbers in (0, 1)) from block 0 on."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from hetero.philox import cpu

        return cpu
    from hetero.philox import cuda

    return cuda


def key(rng: Any = None, name: str = "rng") -> tuple[np.uint32, np.uint32]:
    """Return the Philox key that a user's `rng` stands for.

    Parameters
    ----------
    rng : None, int >= 0, numpy.random.SeedSequence, numpy.random.Generator or RandomState
        None takes fresh entropy; a generator is drawn from, so two calls give two keys.
    """
    is_integer = isinstance(rng, Integral) and not isinstance(rng, bool | np.timedelta64)
    if rng is None or is_integer:
        if rng is not None and int(rng) < 0:
            raise ValueError(f"{name} must be >= 0, got {validation.describe(rng)}")
        rng = np.random.SeedSequence(None if rng is None else int(rng))
    if isinstance(rng, np.random.SeedSequence):
        k0, k1 = rng.generate_state(2, np.uint32)
    elif isinstance(rng, np.random.Generator):
        k0, k1 = rng.integers(0, 2**32, size=2, dtype=np.uint32)
    elif isinstance(rng, np.random.RandomState):
        k0, k1 = rng.randint(0, 2**32, size=2, dtype=np.uint32)
    else:
        raise TypeError(
            f"{name} must be None, an int, a SeedSequence or a NumPy Generator, got "
            f"{validation.describe(rng)}"
        )
    return np.uint32(k0), np.uint32(k1)


def words(
    size: Any,
    *,
    rng: Any = None,
    path: int = 0,
    stream: int = 0,
    rounds: int = ROUNDS,
    out: Any = None,
    device: str | Device | None = None,
) -> Any:
    """Return random uint32 words in counter order, four from each block.

    Parameters
    ----------
    size : int or tuple of int
    rng : see `key`
    path, stream : int in [0, 2^32)
    rounds : {10, 7}
    out : array to fill instead of a new NumPy array; an array on a GPU, as CuPy's, stays there
    device : the device that draws

    Returns
    -------
    uint32 array of shape `size`, or `out`
    """
    return _filled(size, "uint32", rng, path, stream, rounds, out, device)


def uniform(
    size: Any,
    *,
    dtype: DTypeLike = np.float64,
    rng: Any = None,
    path: int = 0,
    stream: int = 0,
    rounds: int = ROUNDS,
    out: Any = None,
    device: str | Device | None = None,
) -> Any:
    """Return uniform numbers in the open interval (0, 1); the arguments are those of `words`.

    float64: odd multiples of 2^-53, two words each; float32: odd multiples of 2^-24, one each.
    They are the same on every device.
    """
    name = validation.check_dtype("dtype", dtype, ("float64", "float32"))
    return _filled(size, name.name, rng, path, stream, rounds, out, device)


def _filled(
    size: Any,
    dtype: str,
    rng: Any,
    path: int,
    stream: int,
    rounds: int,
    out: Any,
    spec: str | Device | None,
) -> Any:
    """Check the arguments of `words` and `uniform`, and return the array that they describe."""
    shape = validation.check_shape("size", size)
    if validation.check_integer("rounds", rounds) not in (7, 10):
        raise ValueError(f"rounds must be 7 or 10, got {rounds!r}")
    path = validation.check_integer("path", path, 0, 2**32 - 1)
    stream = validation.check_integer("stream", stream, 0, 2**32 - 1)
    device = resolve(spec, out)
    with device.active():
        work = Workspace(device, out)
        array = work.output(shape, np.dtype(dtype), out)
        if array.size:
            loops(device).fill(key(rng), path, stream, rounds, array, work.stream)
        return work.result(array, shape, out)
