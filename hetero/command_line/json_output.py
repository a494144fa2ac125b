"""Results as JSON on the standard output."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def print_json(result: Mapping[str, Any]) -> None:
    """Print a result as JSON; NaN is null, and infinity the text "Infinity"."""
    print(json.dumps(as_plain(result), indent=1, allow_nan=False))


def as_plain(value: Any) -> Any:
    """Return a value made of what JSON knows; arrays become lists, unknown objects texts."""
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0.0 else "-Infinity")
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
