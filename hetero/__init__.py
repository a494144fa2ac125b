"""The shared layer: devices, arrays, launches, timing and random words.

The only package here that knows what a device is. Importing it loads neither NumPy nor Numba nor a
driver.
"""

import sys

import lazy_loader

# Ctrl-C in the first moment of an earlier import, before `import_whole` defers it, may have left a
# module half loaded, which Python would not load again.
for _name, _module in list(sys.modules.items()):
    if _name.startswith(f"{__name__}.") and getattr(_module.__spec__, "_initializing", False):
        del sys.modules[_name]

from hetero.compile_cache.sources import register  # noqa: E402
from hetero.cpu.whole_imports import import_whole  # noqa: E402
from hetero.version import VERSION  # noqa: E402

register(__name__, __path__[0])
import_whole(__name__)
__version__ = VERSION
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)  # reads __init__.pyi


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
