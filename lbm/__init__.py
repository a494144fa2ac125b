"""D3Q19 lattice Boltzmann flows on the CPU, on NVIDIA GPUs and on both at once."""

import importlib

# Found at first use, so that importing the package costs nothing.
_PLACES = {
    "lbm.bgk": ("BGK",),
    "lbm.boundaries": (
        *("FreeSlip", "MovingWall", "NoSlip", "Periodic"),
        *("PressureOutlet", "Solid", "VelocityInlet"),
    ),
    "lbm.callbacks": ("Every", "Probe", "Statistics", "SteadyState"),
    "lbm.errors": ("CheckpointError", "UnstableError"),
    "lbm.simulation": ("Simulation",),
    "lbm.trt": ("TRT",),
    "lbm.units": ("Units",),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = ["geometry", *_MODULE_OF]


def __getattr__(name: str):
    if name == "geometry":
        return importlib.import_module("lbm.geometry")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'lbm' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)
