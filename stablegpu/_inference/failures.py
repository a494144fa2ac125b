"""Fits that fail within inference: they are left out, counted and named, or refused."""

from __future__ import annotations

import warnings
from typing import Any

LARGEST_FAILED_SHARE = 0.1
"""Largest share of fits that may fail: by so much a p-value or a level may be wrong."""


def require_converged(result: Any) -> None:
    """Raise ValueError for a fit that does not describe its data: nothing follows from it."""
    if not result.converged:
        raise ValueError(
            f"result must be a fit that converged, got status={result.status!r}: {result.message}"
        )


def check_failures(failed: int, total: int, fits: str) -> None:
    """Warn that fits failed and are left out; raise ValueError if there are too many of them."""
    if failed > LARGEST_FAILED_SHARE * total:
        raise ValueError(
            f"{failed} of {total} {fits} could not be fitted, more than "
            f"{LARGEST_FAILED_SHARE:.0%}: those that could are no fair sample. Fix fewer "
            "parameters, or use result.interval()"
        )
    if failed:
        warnings.warn(
            f"{failed} of {total} {fits} could not be fitted and are left out", stacklevel=4
        )


def name_failures(failed: int, fits: str) -> str:
    """Return the end of a title that says how many fits failed, if any did."""
    return f" ({failed} {fits} could not be fitted and are left out)" if failed else ""
