"""The cache on disk for compiled GPU kernels."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
from typing import Any

from numba.cuda import utils

from hetero.compile_cache.disk_cache import DiskCache
from hetero.compile_cache.fingerprint import UnknownValueError
from hetero.cuda import numba_internals


class KernelDiskCache(DiskCache):
    """A `DiskCache` for kernels, which holds machine code for the present GPU."""

    for_gpus = True

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled kernel for a signature, or None if it is not on disk."""
        with utils.numba_target_override():
            return super().load_overload(signature, target_context)

    def versions(self) -> list[str]:
        """Return the versions of numba-cuda and of the compilers behind it."""
        return _versions()

    def reduce(self, code: Any) -> bytes:
        """Return a kernel as bytes; raise if it was compiled for one launch configuration."""
        if getattr(code, "launch_config_sensitive", False):
            raise UnknownValueError("it depends on its launch configuration")
        return numba_internals.to_bytes(code)

    def rebuild(self, target_context: Any, data: bytes) -> Any:
        """Return a kernel from what `reduce` returned."""
        return numba_internals.from_bytes(data)


_COMPILERS = (
    *("numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvrtc"),
    *("nvidia-cuda-nvcc-cu12", "nvidia-nvjitlink-cu12", "nvidia-cuda-nvrtc-cu12"),
)
"""Distributions that turn a kernel into machine code, for both versions of CUDA."""


@functools.cache
def _versions() -> list[str]:
    """Return the names and versions of those compilers that are installed."""
    versions = []
    for name in _COMPILERS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{name} {importlib.metadata.version(name)}")
    return versions
