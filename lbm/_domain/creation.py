"""The creation of a simulation's domain: the memory it needs, and its parts on their devices."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from hetero.devices import Device
from lbm._domain.domain import Domain
from lbm._domain.memory_forecast import require_memory
from lbm._domain.partition import Partition
from lbm._domain.placement import place_parts
from lbm._domain.ranks.communication import Ranks
from lbm._model.problem import Problem

LOGGER = logging.getLogger(__name__)


def require_memory_of_parts(
    partition: Partition, devices: Sequence[Device], ranks: Ranks, **settings: Any
) -> None:
    """Raise MemoryError if a box of this rank does not fit on its device.

    `settings` are further arguments of `memory_forecast.require_memory`.
    """
    _, placed = place_parts(partition, devices, 0.0, ranks)
    for box, device in placed.items():
        require_memory(partition.extent(box).shape, device=device, **settings)


def choose_ratio(ratio: float | str, problem: Problem, device: Device, ranks: Ranks) -> float:
    """Return the CPU's share of the rows beside a GPU; "auto" measures the best one."""
    if not isinstance(ratio, str):
        return ratio
    from lbm._performance.measurement import measure_best_ratio

    return min(ranks.gather_all(measure_best_ratio(problem, device)))


def create_domain(
    problem: Problem,
    partition: Partition,
    devices: Sequence[Device],
    ratio: float,
    ranks: Ranks,
) -> Domain:
    """Create the parts of this rank on their devices; the CPU gets the share `ratio` of each."""
    partition, placed = place_parts(partition, devices, ratio, ranks)
    domain = Domain(problem, partition, placed, ranks)
    exchange = domain.exchange
    LOGGER.info(
        "rank %d of %d: parts %s, halos %s",
        ranks.rank,
        ranks.size,
        ", ".join(f"{part.extent.shape} on {part.engine.device}" for part in domain.parts),
        dict(exchange.transports) if exchange is not None else "none",
    )
    return domain
