"""The shared layer: devices, arrays, launches, timing and random words.

The only package here that knows what a device is. Importing it loads neither Numba nor a driver.
"""

from typing import TYPE_CHECKING

from hetero.public_names import whole_imports as whole_imports  # before NumPy is imported

# isort: split
from hetero.compile_cache.sources import register
from hetero.devices import Device, available, resolve, use_device
from hetero.display.progress_bar import progress
from hetero.errors import (
    CompilerDisabledError,
    DeviceMemoryError,
    DeviceUnavailableError,
    ForkedProcessError,
)
from hetero.measurement.profiling import Profile, Region, profile, region
from hetero.public_names.lazy import lazy_attributes
from hetero.public_names.moved import redirect_modules
from hetero.version import VERSION as __version__

register(__name__, __path__[0])

if TYPE_CHECKING:  # what `__getattr__` finds, for type checkers
    from hetero import philox as philox
    from hetero.arrays import Workspace as Workspace
    from hetero.cpu.threads import set_threads as set_threads
    from hetero.cpu.threads import threads as threads
    from hetero.cpu.threads import use_threads as use_threads
    from hetero.measurement.benchmarking import Timing as Timing
    from hetero.measurement.benchmarking import benchmark as benchmark
    from hetero.measurement.environment import facts as facts
    from hetero.measurement.machine_limits import Limits as Limits
    from hetero.measurement.machine_limits import limits as limits

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "hetero.cpu.threads": ("set_threads", "threads", "use_threads"),
        "hetero.arrays": ("Workspace",),
        "hetero.measurement.benchmarking": ("Timing", "benchmark"),
        "hetero.measurement.machine_limits": ("Limits", "limits"),
        "hetero.measurement.environment": ("facts",),
    },
    modules=("philox",),
)
__all__ += [
    "CompilerDisabledError",
    "Device",
    "DeviceMemoryError",
    "DeviceUnavailableError",
    "ForkedProcessError",
    "Profile",
    "Region",
    "__version__",
    "available",
    "profile",
    "progress",
    "region",
    "resolve",
    "use_device",
]

redirect_modules(
    {
        "hetero.bench": "hetero.measurement.benchmarking",
        "hetero.ceilings": "hetero.measurement.machine_limits",
        "hetero.launch": "hetero.cuda.launch",
        "hetero.environment": "hetero.measurement.environment",
        "hetero.regions": "hetero.measurement.profiling",
        "hetero.study": "hetero.measurement.studies",
        "hetero.figures": "hetero.display.figures",
        "hetero.notebook": "hetero.display.notebook",
        "hetero.progress_bar": "hetero.display.progress_bar",
    }
)
