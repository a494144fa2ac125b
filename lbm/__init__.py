"""Lattice Boltzmann flows (D3Q19, D3Q27) on the CPU, on NVIDIA GPUs and on both at once."""

import lazy_loader

from hetero.compile_cache.sources import register
from hetero.cpu.whole_imports import import_whole
from hetero.version import VERSION

register(__name__, __path__[0])
import_whole(__name__)
__version__ = VERSION
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)  # reads __init__.pyi


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
