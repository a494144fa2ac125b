"""Arguments of fits: data sets, with or without labels, weights and fixed parameters.

Data with labels are mappings, and frames and series of pandas, polars, pyarrow and others. No such
library is imported: frames are known by their methods.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from hetero.devices import device_of
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE, FEWEST_OBSERVATIONS
from stablegpu._parameters import PARAMETERIZATIONS, PARAMETERS

METHODS = ("ml", "mcculloch", "koutrouvelis", "grid", "grid2")
NAN_POLICIES = ("raise", "omit")


def check_settings(method: str, parameterization: str, nan_policy: str) -> None:
    """Raise ValueError unless these settings of fits are known."""
    validation.check_choice("method", method, METHODS)
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    validation.check_choice("nan_policy", nan_policy, NAN_POLICIES)


class DataSets(NamedTuple):
    """Data sets behind each other in one array.

    Attributes
    ----------
    data : float64 array, in host memory or on a GPU, of one dimension or two
    counts : int64 array
        Number of observations of each set.
    single : bool
        Whether the data were a single set, not one of several.
    labels : tuple or None
        Names of the sets.
    """

    data: Any
    counts: np.ndarray
    single: bool
    labels: tuple[Any, ...] | None = None


def as_sets(name: str, data: Any, fewest: int = FEWEST_OBSERVATIONS) -> DataSets:
    """Return the data sets in an array, a list of sequences, a series, a frame or a mapping.

    Raises ValueError if one of them has fewer than `fewest` values.
    """
    if (columns := labelled_columns(data)) is not None:
        parts = [_column_values(name, label, column) for label, column in columns]
        return _joined_sets(name, parts, tuple(label for label, _ in columns), fewest)
    if isinstance(data, list | tuple) and data and all(map(_is_sequence, data)):
        parts = [series_values(name, part).reshape(-1) for part in data]
        labels = tuple(part.name for part in data) if all(map(is_series, data)) else None
        return _joined_sets(name, parts, labels, fewest)
    values = data
    if device_of(data) is None:
        values = series_values(name, data) if hasattr(data, "to_numpy") else as_real(name, data)
    sets = _array_sets(name, values, fewest)
    if sets.single and is_series(data) and data.name is not None:
        sets = sets._replace(labels=(data.name,))
    return sets


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


def _column_values(name: str, label: Any, column: Any) -> np.ndarray:
    """Return the numbers of a column of a frame or a mapping."""
    try:
        values = series_values(f"{name}[{label!r}]", column)
    except TypeError as error:
        raise TypeError(f"{error}. Remedy: leave this column out") from None
    if values.ndim != 1:
        raise ValueError(f"{name}[{label!r}] must have one dimension, got {values.ndim}")
    return values


def _joined_sets(
    name: str, parts: list[np.ndarray], labels: tuple[Any, ...] | None, fewest: int
) -> DataSets:
    """Return data sets of any lengths behind each other."""
    counts = np.array([part.size for part in parts], np.int64)
    data = np.concatenate(parts) if parts else np.empty(0)
    return DataSets(data, check_counts(name, counts, fewest=fewest), False, labels)


def _array_sets(name: str, data: Any, fewest: int) -> DataSets:
    """Return the data set in an array of one dimension, or those in the rows of one of two."""
    if len(data.shape) not in (1, 2):
        raise ValueError(
            f"{name} must have one dimension, or two (a data set a row), got {len(data.shape)}"
        )
    single = len(data.shape) == 1
    rows, columns = (1, data.shape[0]) if single else data.shape
    where = "values in a set"
    if not single:
        where = f"values in each row of a 2-D array (pass {name}.T if its columns are the sets)"
    counts = check_counts(name, np.full(rows, columns, np.int64), where, fewest)
    return DataSets(data, counts, single)


def _is_sequence(values: Any) -> bool:
    return hasattr(values, "__len__") and getattr(values, "ndim", 1) > 0


def check_counts(
    name: str,
    counts: np.ndarray,
    kind: str = "values in a set",
    fewest: int = FEWEST_OBSERVATIONS,
) -> np.ndarray:
    """Return the sizes of the sets; raise ValueError if one has too few observations."""
    if not counts.size:
        raise ValueError(f"{name} must hold at least one data set, got none")
    if counts.min() < fewest:
        raise ValueError(f"{name} must hold at least {fewest} {kind}, got {counts.min():g}")
    return counts.astype(np.int64)


def omit_nan(name: str, sets: DataSets, weights: Any) -> tuple[DataSets, Any]:
    """Return data sets without their NaN, and the weights of the others.

    Raises
    ------
    TypeError
        The data or the weights are on a GPU.
    ValueError
        Too few data of a set are left.
    """
    if device_of(sets.data) is not None or device_of(weights) is not None:
        raise TypeError(
            f"nan_policy='omit' needs {name} and weights in host memory: leave NaN out on the GPU"
        )
    flat = sets.data.reshape(-1)
    is_number = ~np.isnan(flat)
    if is_number.all():
        return sets, weights
    counts = np.add.reduceat(is_number, np.cumsum(sets.counts) - sets.counts, dtype=np.int64)
    counts = check_counts(name, counts, "values in a set beside NaN")
    weights = None if weights is None else weights.reshape(-1)[is_number]
    return sets._replace(data=flat[is_number], counts=counts), weights


def select_weighted(
    data: np.ndarray, weights: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Select the data of positive weight; return them, their weights, and the count in each set."""
    positive = weights > 0.0
    if positive.all():
        return data, weights, counts
    counts = np.add.reduceat(positive, np.cumsum(counts) - counts, dtype=np.int64)
    return (
        data[positive],
        weights[positive],
        check_counts("data", counts, "values of positive weight in a set"),
    )


def check_weights(
    weights: Any, counts: np.ndarray, method: str, labels: tuple[Any, ...] | None = None
) -> Any:
    """Return weights, flat like the data, or None; raise ValueError if they cannot be used."""
    if weights is None:
        return None
    if method != "ml":
        raise ValueError(f"weights need method='ml', got method={method!r}")
    if device_of(weights) is not None:  # not checked, as data on a GPU are not
        if math.prod(weights.shape) != counts.sum():
            raise ValueError(f"weights must have the shape of data, got {tuple(weights.shape)}")
        return weights
    flat, sizes, _, names = as_sets("weights", weights, 1)
    if names is not None and labels is not None and names != labels:
        raise ValueError(f"weights must have the labels of data, {labels}, got {names}")
    if sizes.size != counts.size or (sizes != counts).any():
        raise ValueError("weights must have the shape of data")
    if not ((flat >= 0.0) & np.isfinite(flat)).all():
        raise ValueError("weights must be finite and at least 0")
    with np.errstate(over="ignore"):
        totals = np.add.reduceat(flat.reshape(-1), np.cumsum(counts) - counts)
    if (totals <= 0.0).any():
        raise ValueError("weights of a data set must not all be 0")
    if not (totals <= LARGEST_WEIGHT).all():
        raise ValueError(
            f"weights of a data set must have a sum of at most {LARGEST_WEIGHT:g}: they count "
            "observations; scale them down first"
        )
    return flat


LARGEST_WEIGHT = 2.0**53
"""Largest sum of the weights of a data set. They count observations, and beyond it one more or less
makes no difference to a likelihood, so that an ascent would not end."""

_RANGES: dict[str, dict[str, Any]] = {
    "alpha": {"low": ALPHA_RANGE[0], "high": ALPHA_RANGE[1]},
    "beta": {"low": BETA_RANGE[0], "high": BETA_RANGE[1]},
    "loc": {"low": -math.inf, "high": math.inf},
    "scale": {"low": 0.0, "high": math.inf, "closed": "neither"},
}


def _shape_of(values: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, a number or nested lists, and None if lists are ragged."""
    try:
        return np.shape(values)
    except ValueError:
        return None


def check_fixed(
    fixed: Mapping[str, Any] | None, parameterization: str, method: str, sets: int
) -> dict[str, np.ndarray]:
    """Return the fixed parameters by name, an array with an element for each data set.

    Raises TypeError or ValueError if a name or a value is not allowed.
    """
    if not isinstance(fixed, Mapping | None):
        raise TypeError(f"fixed must be a dict of parameters by name, got {fixed!r}")
    requested = dict(fixed or {})
    if requested and method != "ml":
        raise ValueError(f"fixed needs method='ml', got method={method!r}")
    if unknown := set(requested) - set(PARAMETERS):
        raise ValueError(
            f"fixed may name {', '.join(PARAMETERS)}, got {', '.join(sorted(map(repr, unknown)))}"
        )
    fixed_values = {}
    for name, values in requested.items():
        shape = _shape_of(values)
        if shape not in ((), (sets,)):
            raise ValueError(
                f"fixed {name} must be a number, or one for each of {sets} data sets, got "
                + ("lists of different lengths" if shape is None else f"shape {shape}")
            )
        each = [values] if shape == () else values
        checked = [validation.check_in_range(f"fixed {name}", v, **_RANGES[name]) for v in each]
        fixed_values[name] = np.broadcast_to(np.array(checked), (sets,))
    near_one = "alpha" not in fixed_values or (abs(fixed_values["alpha"] - 1.0) < 0.01).any()
    in_s1 = (
        parameterization == "S1" and "loc" in fixed_values and np.any(fixed_values.get("beta", 1.0))
    )
    if in_s1 and near_one:
        raise ValueError(
            "a fixed loc of S1 needs a fixed beta of 0, or a fixed alpha away from 1, where S1 "
            "jumps; fix loc with parameterization='S0'"
        )
    return fixed_values


def refuse_unknown(others: Mapping[str, Any]) -> None:
    """Raise TypeError for arguments that `fit` lacks, and name those that SciPy's names mean."""
    for name in others:
        meant = SCIPY_NAMES.get(name)
        remedy = f"; use fixed={{'{meant}': ...}}" if meant else ""
        raise TypeError(f"fit() got an unexpected keyword argument {name!r}{remedy}")


SCIPY_NAMES = {
    **{"floc": "loc", "fscale": "scale", "fix_loc": "loc", "fix_scale": "scale"},
    **{"f0": "alpha", "fa": "alpha", "falpha": "alpha", "fix_alpha": "alpha"},
    **{"f1": "beta", "fb": "beta", "fbeta": "beta", "fix_beta": "beta"},
}
"""Parameters by the arguments that fix them in SciPy."""
