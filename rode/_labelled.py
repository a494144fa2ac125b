"""Results under the names of their outputs: columns, frames of pandas, datasets of xarray."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.validation import describe

if TYPE_CHECKING:
    import pandas

    from rode.results import Result

KINDS = ("statistics", "peaks", "paths")
"""Contents that a table of a result can have."""


def statistics_columns(result: Result) -> dict[str, np.ndarray]:
    """Return times, means, standard deviations and quantiles of all outputs by name."""
    columns = {"t": result.t}
    for k, output in enumerate(result.outputs):
        for one in result.reductions:
            if one.axes.keys() <= result.values.keys():
                for end, column in one.columns(result.values, k).items():
                    columns[f"{output}_{end}"] = column
    return columns


def make_frame(result: Result, kind: str | None) -> pandas.DataFrame:
    """Return a frame of the result; see `Result.to_frame`."""
    import pandas

    kind = _kind_of(result, kind)
    if kind == "statistics":
        return pandas.DataFrame(statistics_columns(result)).set_index("t")
    if kind == "peaks":
        assert result.peaks is not None  # as `_kind_of` says
        frame = pandas.DataFrame(dict(zip(result.outputs, result.peaks, strict=True)))
        return frame.rename_axis(index="path")
    assert result.paths is not None
    times, outputs, paths = result.paths.shape
    columns = pandas.MultiIndex.from_product(
        [result.outputs, range(paths)], names=["output", "path"]
    )
    values = result.paths.reshape(times, outputs * paths)
    return pandas.DataFrame(values, index=pandas.Index(result.t, name="t"), columns=columns)


def _kind_of(result: Result, kind: str | None) -> str:
    """Return the kind of table, checked; by default the first that the result has."""
    present = {
        "statistics": result.mean is not None or result.quantiles is not None,
        "peaks": result.peaks is not None,
        "paths": result.paths is not None,
    }
    available = [name for name in KINDS if present[name]]
    if kind is None:
        kind = available[0]
    if not isinstance(kind, str) or kind not in available:
        raise ValueError(
            f"kind must be one of {', '.join(available)}, which this result has, got "
            f"{describe(kind)}; reduction= of rode.solve says what a result has"
        )
    return kind


def make_dataset(result: Result) -> Any:
    """Return a dataset of xarray; see `Result.to_xarray`."""
    if importlib.util.find_spec("xarray") is None:
        raise ImportError("to_xarray needs xarray: pip install xarray")
    import xarray

    variables = {name: (axes, result.values[name]) for name, axes in result.axes().items()}
    coordinates: dict[str, Any] = {"output": list(result.outputs)}
    used = {axis for axes, _ in variables.values() for axis in axes}
    if "t" in used:
        coordinates["t"] = ("t", result.t, {"units": "s"})
    if "probability" in used:
        coordinates["probability"] = list(result.probabilities)
    facts = {"status": result.status, "message": result.message, "paths": result.work.paths}
    return xarray.Dataset(variables, coordinates, facts)
