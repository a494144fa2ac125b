"""The shared layer: devices, arrays, launches, timing and random words.

The only package here that knows what a device is. Importing it loads neither Numba nor a driver.
"""

from hetero._progress import progress
from hetero.devices import Device, available, resolve, use_device
from hetero.errors import DeviceMemoryError, DeviceUnavailableError, ForkedProcessError
from hetero.lazy import lazy_attributes
from hetero.regions import Profile, Region, profile, region
from hetero.version import VERSION as __version__

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "hetero._threads": ("set_threads", "threads", "use_threads"),
        "hetero.arrays": ("Workspace",),
        "hetero.bench": ("Timing", "benchmark"),
        "hetero.ceilings": ("Limits", "limits"),
        "hetero.environment": ("facts",),
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
