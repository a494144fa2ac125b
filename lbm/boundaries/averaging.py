"""The field of conditions with a running mean."""

from dataclasses import field
from typing import Any

from hetero.validation import check_in_range

AVERAGING = 5000.0
"""Steps over which the means of ends that do not reflect follow the flow, unless they are given."""


def averaging_field() -> Any:
    """Return the field `averaging`, a duration in case files."""
    return field(default=AVERAGING, metadata={"quantity": "duration"})


def check_averaging(condition: Any) -> None:
    """Set the field of a condition to a number of steps, or raise ValueError."""
    steps = check_in_range("averaging", condition.averaging, 1.0, 1e12)
    object.__setattr__(condition, "averaging", steps)
