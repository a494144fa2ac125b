"""Arguments of fits: checks of data sets, weights and fixed parameters, and those of a batch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetero import validation
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE, FEWEST_OBSERVATIONS
from stablegpu._parameters import PARAMETERS


@dataclass(frozen=True)
class BatchFit:
    """Settings by which the data sets of a batch are fitted, and the device.

    Attributes
    ----------
    method, parameterization : str
    fixed_values : dict of arrays
        Fixed parameters by name, a value for each set.
    workspace, host_workspace : Workspace
        Of the device: for arrays like the data, and for arrays that come from the host.
    """

    method: str
    parameterization: str
    fixed_values: dict[str, np.ndarray]
    workspace: Workspace
    host_workspace: Workspace

    @property
    def free(self) -> int:
        """Bit mask of the free parameters, alpha in the lowest bit."""
        return sum(1 << k for k, name in enumerate(PARAMETERS) if name not in self.fixed_values)

    def select(self, which: Any) -> BatchFit:
        """Return the fit of the data sets with the indices `which`."""
        values = {name: value[which] for name, value in self.fixed_values.items()}
        return replace(self, fixed_values=values)


def as_sets(name: str, data: Any) -> tuple[Any, np.ndarray, bool]:
    """Return the data, the sizes of the sets, and whether the data are a single set."""
    if device_of(data) is None:
        if isinstance(data, list | tuple) and data and all(map(_is_sequence, data)):
            parts = [as_real(name, part).reshape(-1) for part in data]
            data = np.concatenate(parts)
            counts, single = np.array([part.size for part in parts]), False
            return data, _check_counts(name, counts), single
        data = as_real(name, data)
    if len(data.shape) not in (1, 2):
        raise ValueError(
            f"{name} must have one dimension, or two (a data set a row), got {len(data.shape)}"
        )
    single = len(data.shape) == 1
    rows, columns = (1, data.shape[0]) if single else data.shape
    return data, _check_counts(name, np.full(rows, columns, np.int64)), single


def _is_sequence(values: Any) -> bool:
    return hasattr(values, "__len__") and getattr(values, "ndim", 1) > 0


def _check_counts(name: str, counts: np.ndarray, kind: str = "values") -> np.ndarray:
    """Return the sizes of the sets; raise ValueError if one has too few observations."""
    if not counts.size:
        raise ValueError(f"{name} must hold at least one data set, got none")
    if counts.min() < FEWEST_OBSERVATIONS:
        raise ValueError(
            f"{name} must hold at least {FEWEST_OBSERVATIONS} {kind} in a set, got "
            f"{int(counts.min())}"
        )
    return counts.astype(np.int64)


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
        _check_counts("data", counts, "values of positive weight"),
    )


def check_weights(weights: Any, counts: np.ndarray, method: str) -> Any:
    """Return weights, flat like the data, or None; raise ValueError if they cannot be used."""
    if weights is None:
        return None
    if method != "ml":
        raise ValueError(f"weights need method='ml', got method={method!r}")
    if device_of(weights) is not None:  # not checked, as data on a GPU are not
        if math.prod(weights.shape) != counts.sum():
            raise ValueError(f"weights must have the shape of data, got {tuple(weights.shape)}")
        return weights
    flat, sizes, _ = as_sets("weights", weights)
    if sizes.size != counts.size or (sizes != counts).any():
        raise ValueError("weights must have the shape of data")
    if not ((flat >= 0.0) & np.isfinite(flat)).all():
        raise ValueError("weights must be finite and at least 0")
    with np.errstate(over="ignore"):
        totals = np.add.reduceat(flat.reshape(-1), np.cumsum(counts) - counts)
    if (totals <= 0.0).any():
        raise ValueError("weights of a data set must not all be 0")
    if not np.isfinite(totals).all():
        raise ValueError("weights of a data set must have a finite sum: scale them down first")
    return flat


_RANGES: dict[str, dict[str, Any]] = {
    "alpha": {"low": ALPHA_RANGE[0], "high": ALPHA_RANGE[1]},
    "beta": {"low": BETA_RANGE[0], "high": BETA_RANGE[1]},
    "loc": {"low": -math.inf, "high": math.inf},
    "scale": {"low": 0.0, "high": math.inf, "closed": "neither"},
}


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
            f"fixed may name {', '.join(PARAMETERS)}, got {', '.join(map(repr, sorted(unknown)))}"
        )
    fixed_values = {}
    for name, values in requested.items():
        if np.ndim(values) and np.shape(values) != (sets,):
            raise ValueError(
                f"fixed {name} must be a number, or one for each of {sets} data sets, got shape "
                f"{np.shape(values)}"
            )
        each = values if np.ndim(values) else [values]
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
