"""Outcomes of fits: their statuses, and the messages that describe them."""

from __future__ import annotations

from collections.abc import Collection

from stablegpu._fit.limits import ALPHA_RANGE

STATUSES = ("converged", "stuck", "exhausted", "impossible", "constant", "not finite", "too wide")
"""Ways in which a fit can end.

- "converged": at a maximum
- "stuck": where rounding allowed no further gain
- "exhausted": after too many evaluations
- "impossible": the fixed parameters do not allow the data
- "constant", "not finite", "too wide": the data cannot be fitted, because half of them are equal,
  because NaN or infinity is among them, or because their range is beyond that of float64
"""

CONVERGED = STATUSES[:2]
"""Statuses of fits that ended at a maximum, as far as rounding allows."""

REMEDIES = {
    "constant": "data must vary: at least half of the values are equal, so the quartiles give no "
    "scale",
    "not finite": "data must be finite: remove infinite values, and NaN by nan_policy='omit'",
    "too wide": "data must span less than the range of float64: rescale them first",
}
"""Remedy for data that cannot be fitted, by status."""


def outcome_message(
    at_boundary: Collection[bool],
    status: str = "converged",
    fixed: Collection[str] = (),
    ties: float = 1.0,
    smallest_alpha: float = ALPHA_RANGE[0],
) -> str:
    """Return the message that describes the outcome of a fit."""
    labels = ("alpha", "|beta|", "scale")
    ends = zip(("alpha", "beta", "scale"), labels, at_boundary, strict=True)
    names = [label for name, label, is_at in ends if is_at and name not in fixed]
    parts = [f"at the boundary of the estimator's range: {', '.join(names)}"] if names else []
    if smallest_alpha > ALPHA_RANGE[0] and status not in REMEDIES:
        why = f"{ties:g} observations are equal" if ties > 1.0 else "there are few observations"
        parts.append(
            f"{why}, so the likelihood has no bound for small alpha: alpha below "
            f"{smallest_alpha:.3g} was left out"
        )
    if status == "exhausted":
        parts.append("the ascent did not converge within its evaluations")
    if status == "impossible":
        why = "under the fixed parameters" if fixed else "in the range of float64: rescale them"
        parts.append(f"the data have no likelihood {why}")
    if status in REMEDIES:
        parts.append(REMEDIES[status])
    return "; ".join(parts)
