"""Random ordinary differential equations: normal numbers, Ornstein-Uhlenbeck paths, solvers."""

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
