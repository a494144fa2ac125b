"""Moments of all cells in host memory, which are read once per step."""

from __future__ import annotations

import numpy as np

from lbm._domain.domain import Domain


class HostMoments:
    """A copy of the moments of a domain in host memory.

    The arrays are read-only, because they are returned again as long as the step is the same.
    """

    def __init__(self) -> None:
        self._step = -1
        self._data: np.ndarray | None = None
        self._rho: np.ndarray | None = None

    def discard(self) -> None:
        """Forget the copy."""
        self._step, self._data, self._rho = -1, None, None

    def read(self, domain: Domain, t: int) -> np.ndarray:
        """Return rho - 1 and u [k, z, y, x] after t steps."""
        if self._data is None or self._step != t:
            self.discard()
            self._data = domain.read_moments_to_host(t)
            self._data.flags.writeable = False
            self._step = t
        return self._data

    def read_rho(self, domain: Domain, t: int) -> np.ndarray:
        """Return rho [z, y, x] after t steps."""
        data = self.read(domain, t)
        if self._rho is None:
            self._rho = data[0] + data.dtype.type(1)
            self._rho.flags.writeable = False
        return self._rho
