"""Data with labels: frames and series of pandas, polars, pyarrow and others, and mappings.

No such library is imported: frames are known by their methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hetero.arrays import as_real


def labelled_columns(data: Any) -> list[tuple[Any, Any]] | None:
    """Return the labels and columns of a frame or a mapping; None for anything else.

    Frames are those of pandas and polars, with which Modin, cuDF and Narwhals agree, and tables of
    pyarrow.
    """
    if isinstance(data, Mapping) or (hasattr(data, "columns") and hasattr(data, "items")):
        return list(data.items())
    if hasattr(data, "columns") and hasattr(data, "iter_columns"):
        return [(column.name, column) for column in data.iter_columns()]
    if hasattr(data, "column_names") and hasattr(data, "itercolumns"):
        return list(zip(data.column_names, data.itercolumns(), strict=True))
    return None


def is_series(data: Any) -> bool:
    """Return whether `data` is a column of a frame: one dimension, with a name."""
    return hasattr(data, "to_numpy") and hasattr(data, "name")


def series_values(name: str, data: Any) -> np.ndarray:
    """Return a series, or an array, in host memory as float64; NaN for missing values.

    Raises
    ------
    TypeError : the values are no real numbers
    """
    if not hasattr(data, "to_numpy"):
        return as_real(name, data)
    values = np.asarray(data.to_numpy())
    if values.dtype == object and hasattr(data, "isna"):  # pandas' numbers with missing values
        try:
            values = data.to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):
            raise TypeError(f"{name} must hold real numbers, got {data.dtype}") from None
    return as_real(name, values)


def series_index(data: Any) -> Any:
    """Return the index of a pandas series, such as its dates; None for row numbers."""
    index = getattr(data, "index", None)
    is_plain = index is None or callable(index) or type(index).__name__ == "RangeIndex"
    return None if is_plain else index
