"""The shared layer: devices, arrays, launches, timing and random words.

The only package here that knows what a device is. Importing it loads neither Numba nor a driver.
"""

from hetero.devices import Device, available, resolve, use_device
from hetero.errors import DeviceMemoryError, DeviceUnavailableError, ForkedProcessError
from hetero.lazy import lazy_attributes
from hetero.measurement.profiling import Profile, Region, profile, region
from hetero.moved import redirect_modules
from hetero.progress_bar import progress
from hetero.version import VERSION as __version__

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
    }
)
