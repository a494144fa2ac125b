"""D3Q19 lattice Boltzmann flows on the CPU, on NVIDIA GPUs and on both at once."""

from typing import TYPE_CHECKING

from hetero.compile_cache.sources import register
from hetero.public_names.lazy import lazy_attributes
from hetero.public_names.moved import redirect_modules
from hetero.version import VERSION as __version__

register(__name__, __path__[0])

if TYPE_CHECKING:  # for type checkers: the names are imported at their first use
    from lbm import flows as flows
    from lbm import geometry as geometry
    from lbm import launcher as launcher
    from lbm.boundaries import Condition as Condition
    from lbm.boundaries import FreeSlip as FreeSlip
    from lbm.boundaries import MovingWall as MovingWall
    from lbm.boundaries import NoSlip as NoSlip
    from lbm.boundaries import Periodic as Periodic
    from lbm.boundaries import PressureOutlet as PressureOutlet
    from lbm.boundaries import Solid as Solid
    from lbm.boundaries import VelocityInlet as VelocityInlet
    from lbm.callbacks import Every as Every
    from lbm.callbacks import Probe as Probe
    from lbm.callbacks import Statistics as Statistics
    from lbm.callbacks import SteadyState as SteadyState
    from lbm.collisions.bgk import BGK as BGK
    from lbm.collisions.operator import Collision as Collision
    from lbm.collisions.trt import TRT as TRT
    from lbm.decomposition import Decomposition as Decomposition
    from lbm.errors import CheckpointError as CheckpointError
    from lbm.errors import UnstableError as UnstableError
    from lbm.simulation import Simulation as Simulation
    from lbm.units import Units as Units

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "lbm.collisions.bgk": ("BGK",),
        "lbm.boundaries": (
            *("Condition", "FreeSlip", "MovingWall", "NoSlip", "Periodic"),
            *("PressureOutlet", "Solid", "VelocityInlet"),
        ),
        "lbm.callbacks": ("Every", "Probe", "Statistics", "SteadyState"),
        "lbm.collisions.operator": ("Collision",),
        "lbm.decomposition": ("Decomposition",),
        "lbm.errors": ("CheckpointError", "UnstableError"),
        "lbm.simulation": ("Simulation",),
        "lbm.collisions.trt": ("TRT",),
        "lbm.units": ("Units",),
    },
    modules=("flows", "geometry", "launcher"),
)
__all__ += ["__version__"]

redirect_modules(
    {
        "lbm.balance": "lbm._performance.model",
        "lbm.bgk": "lbm.collisions.bgk",
        "lbm.cases": "lbm.flows",
        "lbm.checkpoint": "lbm._io.checkpoint",
        "lbm.engine": "lbm._engines.engine",
        "lbm.forces": "lbm._fields.forces",
        "lbm.lattice": "lbm._model.lattice",
        "lbm.links": "lbm._model.wall_links",
        "lbm.memory": "lbm._domain.memory_forecast",
        "lbm.output": "lbm._io.vtk",
        "lbm.parts": "lbm._domain.domains",
        "lbm.patterns": "lbm._model.streaming_patterns",
        "lbm.precision": "lbm._model.precision",
        "lbm.stability": "lbm._fields.stability",
        "lbm.stability_map": "lbm._model.stability_map",
        "lbm.trt": "lbm.collisions.trt",
    }
)
