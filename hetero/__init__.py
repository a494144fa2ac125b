"""The shared layer: devices, arrays, launches, timing and random words.

The only package here that knows what a device is. Importing it loads neither Numba nor a driver.
"""

import importlib

from hetero._progress import progress
from hetero.devices import Device, available, resolve, use_device
from hetero.errors import DeviceUnavailableError
from hetero.regions import Profile, Region, profile, region

# Found at first use: they import Numba.
_LATER = {
    "Limits": "hetero.ceilings",
    "Timing": "hetero.bench",
    "Workspace": "hetero.arrays",
    "benchmark": "hetero.bench",
    "facts": "hetero.environment",
    "set_threads": "hetero._threads",
    "threads": "hetero._threads",
    "use_threads": "hetero._threads",
    "limits": "hetero.ceilings",
}

__all__ = [
    "Device",
    "DeviceUnavailableError",
    "Profile",
    "Region",
    "available",
    "philox",
    "profile",
    "progress",
    "region",
    "resolve",
    "use_device",
    *_LATER,
]


def __getattr__(name: str):
    if name == "philox":
        return importlib.import_module("hetero.philox")
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'hetero' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
