"""What hetero raises, and the checks that every public function shares."""

from __future__ import annotations

import math
from numbers import Real


class DeviceUnavailableError(RuntimeError):
    """A device was asked for by name and cannot be used; the message names cause and remedy."""

    def __init__(self, device: str, cause: str, remedy: str):
        super().__init__(f"device {device!r} is not available: {cause}. Remedy: {remedy}.")
        self.device, self.cause, self.remedy = device, cause, remedy

    def __reduce__(self):  # the base class would call with the message alone
        return type(self), (self.device, self.cause, self.remedy)


class DeviceMemoryError(MemoryError):
    """A GPU has too little free memory; the message says what was needed and what there is.

    The device can still be used: memory that was allocated before is kept or has been given back.

    Attributes
    ----------
    device : str
    needed : int or None
        Bytes of the allocation that failed; None if the library that failed does not say.
    free, total : int
        Bytes of the device at that time.
    """

    def __init__(self, device: str, needed: int | None, free: int, total: int):
        wanted = "more memory than there is" if needed is None else f"{format_bytes(needed)} more"
        super().__init__(
            f"{device} needs {wanted}, has {format_bytes(free)} free of {format_bytes(total)}. "
            "Remedy: pass less data at a time, take float32, free other arrays on the GPU, "
            "or compute with device='cpu'"
        )
        self.device, self.needed, self.free, self.total = device, needed, free, total

    def __reduce__(self):  # the base class would call with the message
        return type(self), (self.device, self.needed, self.free, self.total)


def format_bytes(count: float) -> str:
    """Return a number of bytes as text, in the largest binary unit that it fills."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"


class ForkedProcessError(RuntimeError):
    """A forked process cannot run parallel CPU loops, because its parent had started OpenMP."""

    def __init__(self):
        super().__init__(
            "this process was forked after its parent had run a parallel loop, and GNU OpenMP "
            "cannot run another one here. Remedy: start processes by "
            "multiprocessing.get_context('spawn') or 'forkserver', or install the extra 'tbb', "
            "whose threads survive a fork"
        )

    def __reduce__(self):  # the base class would call with the message
        return type(self), ()


def real(name: str, value) -> float:
    """`value` as a finite float.

    Raises TypeError for what is no real number, ValueError for NaN and infinity.
    """
    number = _plain(value)
    try:
        if isinstance(number, bool) or not isinstance(number, Real):
            raise TypeError
        value = float(number)
    except (TypeError, OverflowError):
        raise TypeError(f"{name} must be a real number, got {value!r}") from None
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return value


def _plain(value):
    """A NumPy or device scalar, not an array of one element, as Python's number."""
    is_scalar = getattr(value, "ndim", None) == 0 and getattr(value, "dtype", None) is not None
    return value.item() if is_scalar else value


def within(name: str, value, low: float, high: float, *, closed: str = "both") -> float:
    """`value` as a float in [low, high]; `closed` says which ends belong to the range."""
    value = real(name, value)
    above = value >= low if closed in ("both", "left") else value > low
    below = value <= high if closed in ("both", "right") else value < high
    if not (above and below):
        left = "[" if closed in ("both", "left") else "("
        right = "]" if closed in ("both", "right") else ")"
        raise ValueError(f"{name} must lie in {left}{low:g}, {high:g}{right}, got {value!r}")
    return value


def whole(name: str, value, least: int = 0, most: int | None = None) -> int:
    """`value` as an int of at least `least`, and at most `most`."""
    try:
        plain = _plain(value)
        number = int(plain)
        if number != plain or isinstance(plain, bool):
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < least or (most is not None and number > most):
        allowed = f">= {least}" if most is None else f"in [{least}, {most}]"
        raise ValueError(f"{name} must be an integer {allowed}, got {value!r}")
    return number


def one_of(name: str, value, options: tuple[str, ...]) -> str:
    """`value` if it is one of `options`, else a ValueError that lists them."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return value


def shape(name: str, value) -> tuple[int, ...]:
    """`value` (None, an int or a sequence of ints) as an array shape; None is a scalar's ()."""
    if value is None:
        return ()
    try:
        sizes = tuple(value) if hasattr(value, "__iter__") else (value,)
        sizes = tuple(int(n) if n == int(n) else n for n in sizes)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an int or a tuple of ints, got {value!r}") from None
    if not all(isinstance(n, int) and n >= 0 for n in sizes):
        raise ValueError(f"{name} must hold integers >= 0, got {value!r}")
    return sizes
