"""Alpha-stable distributions on the CPU and on NVIDIA GPUs."""

from stablegpu.distribution import Stable, stable

__all__ = ["Stable", "fit", "stable"]

__version__ = "0.1.0"


def __getattr__(name: str):
    if name == "fit":
        from stablegpu.estimate import fit

        return fit
    raise AttributeError(f"module 'stablegpu' has no attribute {name!r}")
