"""The exception of `sbth`."""

from __future__ import annotations

from typing import Any


class NoConvergenceError(RuntimeError):
    """Lanczos iterations ended before all wanted eigenpairs had converged.

    Attributes
    ----------
    eigenvalues : array (m,)
        The eigenvalues that have converged, m <= k, in ascending order.
    eigenvectors : array (n, m)
        Their eigenvectors.
    """

    def __init__(self, message: str, eigenvalues: Any, eigenvectors: Any):
        super().__init__(message)
        self.eigenvalues, self.eigenvectors = eigenvalues, eigenvectors

    def __reduce__(self) -> tuple[type, tuple]:  # the base class would call with the message alone
        return type(self), (str(self), self.eigenvalues, self.eigenvectors)
