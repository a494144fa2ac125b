"""Settings that several flows share: options, sizes, relaxation times and collision operators."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, TypedDict

from numpy.typing import DTypeLike

from hetero.validation import check_in_range
from lbm._parallel.memory_forecast import require_memory
from lbm._parallel.partition import Decomposition
from lbm._parallel.placement import DeviceArgument
from lbm.boundaries import MAX_SPEED
from lbm.collisions import CollisionChoice, choose_operator, make_collision
from lbm.collisions.automatic import AUTO, choose_automatically
from lbm.collisions.operator import LARGEST_TAU, Collision
from lbm.collisions.stability_map import FlowKind
from lbm.lattices import Lattice


class Options(TypedDict, total=False):
    """Arguments that all flows pass on to their `Simulation`."""

    lattice: str | Lattice
    pattern: str
    dtype: DTypeLike
    storage: DTypeLike | None
    state: str
    ratio: float | str
    check: int
    keep_good_state: bool
    comm: Any
    decomposition: str | Sequence[int] | Decomposition
    device: DeviceArgument


class SphereOptions(Options, total=False):
    """Arguments that `lbm.flows.solve_sphere` passes on to `sphere`."""

    width: float
    length: float
    magic: float | None


def require_memory_for(
    shape: tuple[int, int, int], options: Options, collision: CollisionChoice, solids: bool = False
) -> None:
    """Raise MemoryError, before large arrays are built, if one device is to hold too much.

    On several devices or ranks `Simulation` does so for the parts.
    """
    comm, devices = options.get("comm"), options.get("device")
    if not isinstance(devices, list | tuple) and (comm is None or comm.size == 1):
        settings = {"solids": solids, "collision": collision, **options}
        require_memory(shape, **settings)  # type: ignore[arg-type]  # its own


MAX_TURNS = 1e6
"""Largest number of turns of a lid, or of paths of a stream, after which a run ends."""

MAX_EDGE = 1 << 16
"""Largest number of cells along an edge of these flows; memory ends long before."""

MAX_STRIDE = 100
"""Largest stride through the heights of `terrain`: it leaves 4 x 4 of their 344 x 403 points."""


def check_speed(speed: float) -> float:
    """Return the speed of a flow in cells/step, if it is positive and moderate."""
    return check_in_range("speed", speed, 0.0, MAX_SPEED, closed="right")


def relaxation_time(speed: float, cells: float, reynolds: float, name: str) -> float:
    """Return the tau of a Reynolds number over so many cells; `name` is theirs in messages."""
    tau = 0.5 + 3.0 * speed * cells / reynolds
    if not 0.5 < tau <= LARGEST_TAU:
        raise ValueError(
            f"reynolds={reynolds:g}, speed={speed:g} and {name}={cells:g} give tau={tau:.17g}, "
            f"which must lie in (0.5, {LARGEST_TAU:g}]: change one of them"
        )
    return tau


def suit_collision(
    collision: CollisionChoice,
    tau: float,
    cell_reynolds: float,
    magic: float | None = None,
    *,
    kind: FlowKind,
) -> Collision:
    """Return the operator of a flow, with parameters that suit the flow if none are given."""
    if isinstance(collision, str) and collision == AUTO and magic is None:
        return choose_automatically(tau, cell_reynolds, kind)[0]
    if magic is not None:
        return make_collision(collision, tau, magic=magic)
    if isinstance(collision, Collision):
        return make_collision(collision, tau)
    return choose_operator(collision).suited_to(tau, cell_reynolds, kind)


def warn_if_unstable(
    operator: Collision, reynolds: float, cells: int, name: str, comm: Any, *, kind: FlowKind
) -> None:
    """Warn once if a length of `cells` is too small for any parameters of the operator."""
    limit = operator.stability_limit(kind)
    if limit is None or reynolds / cells <= limit or (comm is not None and comm.rank):
        return
    warnings.warn(
        f"{name}={cells} is too small for Reynolds number {reynolds:g}: such flows were stable "
        f"up to {limit:g} times the number of cells, so that this one will probably blow up. "
        f"Use {name}={math.ceil(reynolds / limit)} or more",
        stacklevel=3,
    )
