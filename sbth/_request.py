"""The request of a caller: which eigenvalues, on which device, and how."""

from __future__ import annotations

from typing import NamedTuple

from hetero.devices import Device
from sbth._selection import Selection


class Request(NamedTuple):
    """The request of a public function, which its parts pass on to each other.

    Attributes
    ----------
    selection : the eigenvalues to compute
    device : the device that computes
    method : "auto", "sbth" or "lapack", as the caller chose
    progress : True if a progress bar shall be shown
    """

    selection: Selection
    device: Device
    method: str = "sbth"
    progress: bool = False

    @property
    def tridiagonal_method(self) -> str:
        """The method for the tridiagonal matrix: "sbth" on a GPU, where there is no other one."""
        return self.method if self.device.kind == "cpu" else "sbth"

    def for_part(self, all_values: bool = False) -> Request:
        """Return the request for a diagonal block; see `Selection.of_part`."""
        return self._replace(selection=self.selection.of_part(all_values))
