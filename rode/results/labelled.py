"""Results under the names of their outputs: columns, frames of pandas, datasets of xarray."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.validation import describe
from rode._solver.reductions.reduction import Reduction

if TYPE_CHECKING:
    import pandas


def statistics_columns(
    t: np.ndarray,
    outputs: Sequence[str],
    reductions: Sequence[Reduction],
    values: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Return times, means, standard deviations and quantiles of all outputs by name."""
    columns = {"t": t}
    for k, output in enumerate(outputs):
        for reduction in reductions:
            if reduction.axes.keys() <= values.keys():
                for end, column in reduction.columns(values, k).items():
                    columns[f"{output}_{end}"] = column
    return columns


def make_frame(
    t: np.ndarray,
    outputs: Sequence[str],
    columns: dict[str, np.ndarray] | None,
    values: Mapping[str, np.ndarray],
    kind: str | None,
) -> pandas.DataFrame:
    """Return a frame of a result; see `Result.to_frame`."""
    import pandas

    available = [name for name in ("peaks", "paths") if name in values]
    kind = _check_kind(kind, available if columns is None else ["statistics", *available])
    if kind == "statistics":
        return pandas.DataFrame(columns).set_index("t")
    if kind == "peaks":
        frame = pandas.DataFrame(dict(zip(outputs, values["peaks"], strict=True)))
        return frame.rename_axis(index="path")
    paths = values["paths"]
    labels = [outputs, range(paths.shape[2])]
    return pandas.DataFrame(
        paths.reshape(t.size, len(outputs) * paths.shape[2]),
        index=pandas.Index(t, name="t"),
        columns=pandas.MultiIndex.from_product(labels, names=["output", "path"]),
    )


def _check_kind(kind: str | None, available: Sequence[str]) -> str:
    """Return the kind of table, checked; by default the first that the result has."""
    if kind is None:
        kind = available[0]
    if not isinstance(kind, str) or kind not in available:
        raise ValueError(
            f"kind must be one of {', '.join(available)}, which this result has, got "
            f"{describe(kind)}; reduction= of rode.solve says what a result has"
        )
    return kind


def make_dataset(
    variables: Mapping[str, tuple[tuple[str, ...], np.ndarray]],
    coordinates: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> Any:
    """Return a dataset of xarray; see `Result.to_xarray`.

    Parameters
    ----------
    variables : names of the axes, and array, by name
    coordinates : values along each axis by name; those of axes that no array has are left out
    facts : attributes of the dataset
    """
    if importlib.util.find_spec("xarray") is None:
        raise ImportError("to_xarray needs xarray: pip install xarray")
    import xarray

    used = {"output"}.union(*(axes for axes, _ in variables.values()))
    along: dict[str, Any] = {
        axis: list(values) for axis, values in coordinates.items() if axis in used
    }
    if "t" in along:
        along["t"] = ("t", coordinates["t"], {"units": "s"})
    return xarray.Dataset(variables, along, facts)
