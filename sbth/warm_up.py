"""Small calls of the main functions, which compile what those need: `python -m hetero warm`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def eigvals_banded(device: str) -> None:
    """Compute all eigenvalues of a band matrix of bandwidth 64."""
    import sbth

    band = np.full((65, 500), -1.0)
    band[0] = 200.0
    sbth.eigvals_banded(band, lower=True, device=device)


def eigvalsh(device: str) -> None:
    """Compute all eigenvalues of a full matrix."""
    import sbth

    sbth.eigvalsh(np.diag(np.arange(300.0)) + 1.0, device=device)


def eigh(device: str) -> None:
    """Compute all eigenvalues and eigenvectors of a full matrix."""
    import sbth

    sbth.eigh(np.diag(np.arange(300.0)) + 1.0, device=device)


CALLS: dict[str, Callable[[str], None]] = {f.__name__: f for f in (eigvals_banded, eigvalsh, eigh)}
"""A call of each main function, which takes the name of a device."""
