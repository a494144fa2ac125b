"""D3Q19 lattice Boltzmann flows on the CPU, on NVIDIA GPUs and on both at once."""

from hetero.lazy import lazy_attributes
from hetero.version import VERSION as __version__

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
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
    },
    modules=("geometry",),
)
__all__ += ["__version__"]
