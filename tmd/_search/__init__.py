"""The search: blocks, Taylor models, Boolean tests, the three phases and their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hetero.devices import Device

if TYPE_CHECKING:
    from tmd._search.formulas.line_formulas import Shape
    from tmd._search.planning import Batch


class Loops(Protocol):
    """The three phases of a search, on the super-blocks of a batch.

    `algorithm` and `division` are those of a plan: which Boolean test is made of which numbers.
    """

    def start_batch(self, batch: Batch, shape: Shape, algorithm: str, division: str) -> Any:
        """Start the search of a batch; return a ticket for `finish_batch`.

        A GPU works on it while the host goes on; a CPU has finished it.
        """

    def finish_batch(self, ticket: Any) -> tuple[int, int, np.ndarray, np.ndarray]:
        """Await a batch, and return its results.

        They are the numbers of sub-domains that failed phase 1 and of pieces that failed phase 2,
        and the numbers of the candidates with the upper words of their values, unsorted.
        """

    def count_failing_subdomains(
        self, batch: Batch, shape: Shape, algorithm: str, division: str
    ) -> int:
        """Run phase 1 alone, for measurements; return the number of sub-domains that fail."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from tmd._search import cpu

        return cpu
    from tmd._search import cuda

    return cuda
