"""The exceptions of the shared layer."""

from __future__ import annotations


class DeviceUnavailableError(RuntimeError):
    """A device was requested by name and cannot be used; the message names cause and remedy."""

    def __init__(self, device: str, cause: str, remedy: str):
        super().__init__(f"device {device!r} is not available: {cause}. Remedy: {remedy}.")
        self.device, self.cause, self.remedy = device, cause, remedy

    def __reduce__(self) -> tuple[type, tuple]:  # the base class would call with the message alone
        return type(self), (self.device, self.cause, self.remedy)


class DeviceMemoryError(MemoryError):
    """A GPU has too little free memory; the message says what was needed and what there is.

    The device can still be used: memory that was allocated before is still held or has been freed.

    Attributes
    ----------
    device : str
    needed : int or None
        Bytes of the allocation that failed; None if the library that failed does not say.
    free, total : int
        Bytes of the device at that time.
    """

    def __init__(self, device: str, needed: int | None, free: int, total: int):
        need = "more memory than there is" if needed is None else f"{format_bytes(needed)} more"
        super().__init__(
            f"{device} needs {need}, has {format_bytes(free)} free of {format_bytes(total)}. "
            "Remedy: pass less data at a time, use float32, free other arrays on the GPU, "
            "or compute with device='cpu'"
        )
        self.device, self.needed, self.free, self.total = device, needed, free, total

    def __reduce__(self) -> tuple[type, tuple]:  # the base class would call with the message
        return type(self), (self.device, self.needed, self.free, self.total)


def format_bytes(count: float) -> str:
    """Return a number of bytes as text, in the largest binary unit that it fills."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if count >= 100 else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"


class ForkedProcessError(RuntimeError):
    """A forked process cannot run parallel CPU loops, because its parent had started OpenMP."""

    def __init__(self) -> None:
        super().__init__(
            "this process was forked after its parent had run a parallel loop, and GNU OpenMP "
            "cannot run another one here. Remedy: start processes by "
            "multiprocessing.get_context('spawn') or 'forkserver', or install the extra 'tbb', "
            "whose threads survive a fork"
        )

    def __reduce__(self) -> tuple[type, tuple]:  # the base class would call with the message
        return type(self), ()


class CompilerDisabledError(RuntimeError):
    """Numba's compiler is switched off, and the loops of these packages are not plain Python."""

    def __init__(self) -> None:
        super().__init__(
            "NUMBA_DISABLE_JIT is set, so Numba compiles nothing, but these packages use "
            "instructions that plain Python lacks. Remedy: unset NUMBA_DISABLE_JIT before Python "
            "starts; to debug a GPU kernel use NUMBA_ENABLE_CUDASIM=1, to read formulas the "
            "reference module of each package"
        )

    def __reduce__(self) -> tuple[type, tuple]:  # the base class would call with the message
        return type(self), ()


class CheckpointError(ValueError):
    """A folder with finished parts is damaged or belongs to another computation.

    It is left unchanged.
    """
