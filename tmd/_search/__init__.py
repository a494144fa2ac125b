"""The search: blocks, Taylor models, Boolean tests, the three phases and their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from hetero.devices import Device

if TYPE_CHECKING:
    from tmd._search.formulas.line_formulas import Shape


class Batch(NamedTuple):
    """Consecutive super-blocks of a block that are searched together.

    Offsets are added to the b of lines, and are in units of 2^-63 test units. Bounds are those of
    the Boolean test, in its own unit (2^-52 or 2^-63); float64 or uint64 like the test's numbers.

    Attributes
    ----------
    first : int
        Number of the first super-block in its block.
    table : uint64 (super-blocks, degree + 1, 3)
        Coefficients, as in `Model.words`.
    subdomain_counts : uint64 (super-blocks,)
        Number of sub-domains; the last one may be incomplete.
    offsets, bounds : (super-blocks,)
        For the sub-domains of phase 1.
    piece_offsets, piece_bounds : (super-blocks,)
        For the pieces of phase 2.
    limits : uint64 (super-blocks,)
        Distance below which an argument is a candidate, in units of 2^-63 test units.
    errors : int64 (super-blocks,)
        Bound of the errors of the candidates' values, in units of 2^-63 test units.
    """

    first: int
    table: np.ndarray
    subdomain_counts: np.ndarray
    offsets: np.ndarray
    bounds: np.ndarray
    piece_offsets: np.ndarray
    piece_bounds: np.ndarray
    limits: np.ndarray
    errors: np.ndarray


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
