"""The shared layer: devices, arrays, launches, timing and random words.

The only package here that knows what a device is. Importing it loads neither NumPy nor Numba nor a
driver.
"""

import sys

import lazy_loader


def _forget_half_loaded_modules() -> None:
    """Let Python load modules again that Ctrl-C has left half loaded.

    That can happen in the first moment of an import, before `import_whole` defers signals.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{__name__}.") and getattr(module.__spec__, "_initializing", False):
            del sys.modules[name]


_forget_half_loaded_modules()

from hetero.compile_cache.sources import register  # noqa: E402
from hetero.cpu.whole_imports import import_whole  # noqa: E402
from hetero.version import VERSION  # noqa: E402

register(__name__, __path__[0])
import_whole(__name__)
__version__ = VERSION
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)  # reads __init__.pyi


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
