"""The creation of a simulation's domain: the memory it needs, and its parts on their devices."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from hetero.devices import Device
from lbm._domain.domain import Domain
from lbm._kernels.problem import Problem
from lbm._parallel.memory_forecast import require_memory
from lbm._parallel.partition import Partition
from lbm._parallel.placement import place_parts
from lbm._parallel.ranks.communication import Ranks

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
