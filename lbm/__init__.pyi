"""The public names of lbm, for its `__init__.py` and for type checkers."""

from . import flows as flows
from . import geometry as geometry
from . import launcher as launcher
from .boundaries import Condition as Condition
from .boundaries import FreeSlip as FreeSlip
from .boundaries import MovingWall as MovingWall
from .boundaries import NonReflectingInlet as NonReflectingInlet
from .boundaries import NonReflectingOutlet as NonReflectingOutlet
from .boundaries import NoSlip as NoSlip
from .boundaries import Periodic as Periodic
from .boundaries import PressureOutlet as PressureOutlet
from .boundaries import Solid as Solid
from .boundaries import VelocityInlet as VelocityInlet
from .callbacks import Every as Every
from .callbacks import Probe as Probe
from .callbacks import Statistics as Statistics
from .callbacks import SteadyState as SteadyState
from .collisions.bgk import BGK as BGK
from .collisions.central_moments import CentralMoments as CentralMoments
from .collisions.operator import Collision as Collision
from .collisions.recursive import RecursiveRegularized as RecursiveRegularized
from .collisions.smagorinsky import Smagorinsky as Smagorinsky
from .collisions.smagorinsky import SmagorinskyBGK as SmagorinskyBGK
from .collisions.trt import TRT as TRT
from .decomposition import Decomposition as Decomposition
from .errors import CheckpointError as CheckpointError
from .errors import UnstableError as UnstableError
from .lattices.d3q19 import D3Q19 as D3Q19
from .lattices.d3q27 import D3Q27 as D3Q27
from .lattices.lattice import Lattice as Lattice
from .meshes import TriangleMesh as TriangleMesh
from .meshes import read_mesh as read_mesh
from .scalars import FixedFlux as FixedFlux
from .scalars import FixedValue as FixedValue
from .scalars import Scalar as Scalar
from .shapes import Box as Box
from .shapes import Cylinder as Cylinder
from .shapes import HalfSpace as HalfSpace
from .shapes import Shape as Shape
from .shapes import Sphere as Sphere
from .simulation import Simulation as Simulation
from .sponges import Sponge as Sponge
from .units import Units as Units
from .wall_shear import WallShear as WallShear

__version__: str
