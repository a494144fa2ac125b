"""The search: blocks, Taylor models, Boolean tests, the three phases and their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hetero.devices import Device

if TYPE_CHECKING:
    from tmd._search.planning import Batch, Plan


class Loops(Protocol):
    """The three phases of a search, on the super-blocks of a batch of a planned block."""

    def start_batch(self, batch: Batch, plan: Plan) -> Any:
        """Start the search of a batch; return a ticket for `finish_batch`.

        A GPU works on it while the host goes on; a CPU has finished it.
        """

    def finish_batch(self, ticket: Any) -> tuple[int, int, np.ndarray, np.ndarray]:
        """Await a batch, and return its results.

        They are the numbers of sub-domains that failed phase 1 and of pieces that failed phase 2,
        and the numbers of the candidates with the upper words of their values, unsorted.
        """

    def count_failing_subdomains(self, batch: Batch, plan: Plan) -> int:
        """Run phase 1 alone, for measurements; return the number of sub-domains that fail."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from tmd._search import cpu

        return cpu
    from tmd._search import cuda

    return cuda
