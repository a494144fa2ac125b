"""The public names of hetero, for its `__init__.py` and for type checkers."""

from . import philox as philox
from .arrays import Workspace as Workspace
from .cpu.threads import set_threads as set_threads
from .cpu.threads import threads as threads
from .cpu.threads import use_threads as use_threads
from .devices import Device as Device
from .devices import available as available
from .devices import resolve as resolve
from .devices import use_device as use_device
from .display.progress_bar import progress as progress
from .errors import CheckpointError as CheckpointError
from .errors import CompilerDisabledError as CompilerDisabledError
from .errors import DeviceMemoryError as DeviceMemoryError
from .errors import DeviceUnavailableError as DeviceUnavailableError
from .errors import ForkedProcessError as ForkedProcessError
from .measurement.benchmarking import Timing as Timing
from .measurement.benchmarking import benchmark as benchmark
from .measurement.environment import facts as facts
from .measurement.machine_limits import Limits as Limits
from .measurement.machine_limits import limits as limits
from .measurement.profiling import Profile as Profile
from .measurement.profiling import Region as Region
from .measurement.profiling import profile as profile
from .measurement.profiling import region as region

__version__: str
