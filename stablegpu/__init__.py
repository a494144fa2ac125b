"""Alpha-stable distributions on the CPU and on NVIDIA GPUs.

`stable` is one distribution as a frozen object; `pdf`, `cdf`, ... take arrays of parameters; `fit`
and `fit_windows` estimate parameters, and `bootstrap`, `profile_likelihood` and `goodness_of_fit`
say how well they are known.
"""

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
