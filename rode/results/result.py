"""Results of `solve`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import validation
from hetero.display.notebook import html_table, table_with_picture
from hetero.equality import equal_by_value
from rode._solver.reductions.quantiles import Quantiles
from rode._solver.reductions.reduction import Reduction
from rode._solver.summary import Work

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from rode.results.exceedance import Exceedance


class Arrays:
    """The arrays of a result by name, as attributes; None for those that were not requested."""

    values: Mapping[str, np.ndarray]
    reductions: tuple[Reduction, ...]

    @property
    def paths(self) -> np.ndarray | None:
        """Outputs of each path at the saved times."""
        return self.values.get("paths")

    @property
    def mean(self) -> np.ndarray | None:
        """Means over the paths at the saved times."""
        return self.values.get("mean")

    @property
    def variance(self) -> np.ndarray | None:
        """Variances, which divide by the number of paths less one."""
        return self.values.get("variance")

    @property
    def quantiles(self) -> np.ndarray | None:
        """Quantiles over the paths at the saved times."""
        return self.values.get("quantiles")

    @property
    def peaks(self) -> np.ndarray | None:
        """Largest absolute values of each path over the coarse steps."""
        return self.values.get("peaks")

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Probabilities of `quantiles`, in the order of the request."""
        if "quantiles" not in self.values:
            return ()
        probabilities = (one.probabilities for one in self.reductions if isinstance(one, Quantiles))
        return next(probabilities, ())


@equal_by_value
@dataclass(frozen=True, eq=False, repr=False)
class Output(Arrays):
    """Part of a result that belongs to one output; its arrays are views of those of the `Result`.

    Attributes
    ----------
    name : name of the output
    t : (times,) array
    values : the arrays below and others that were requested, by name
    reductions : those of the result
    paths : (times, paths) array; None if not requested, as those below
    mean, variance : (times,) arrays
    quantiles : (probabilities, times) array
    peaks : (paths,) array
    probabilities : those of `quantiles`
    """

    name: str
    t: np.ndarray
    values: Mapping[str, np.ndarray]
    reductions: tuple[Reduction, ...] = field(default=(), compare=False)  # their arrays count

    def __repr__(self) -> str:
        return f"Output({self.name!r}: {_shapes(self.values)})"


@equal_by_value
@dataclass(frozen=True, eq=False, repr=False)
class Result(Arrays):
    """Result of `rode.solve`. Arrays are NumPy; reductions that were not requested are None.

    ``result["acceleration"]`` has the arrays of one output, see `Output`; `to_frame` and
    `to_xarray` return tables of all.

    Attributes
    ----------
    t : (times,) array
    outputs : names of the outputs
    values : the arrays below and those of other reductions, by name
    paths : (times, outputs, paths) array
    mean, variance : (times, outputs) arrays; the variance divides by the number of paths less one
    quantiles : (probabilities, times, outputs) array
    peaks : (outputs, paths) array: the largest absolute value over the coarse steps of each path;
        NaN if one of them is, as in `numpy.max`
    probabilities : those of `quantiles`, in the order of the request
    reductions : what was requested
    work : Work
    status : "success", or "diverged" if a path or one of its outputs became infinite or NaN
        Outputs count at the saved times, for peaks at every coarse step.
    message : explanation of the status: how many paths, and when
    path_ranges : ranges of the numbers of the paths, in the order of `paths` and `peaks`
    settings : method, steps, seed, types and all else that makes the results, by name
    """

    t: np.ndarray
    outputs: tuple[str, ...]
    work: Work
    status: str
    message: str
    values: Mapping[str, np.ndarray] = field(default_factory=dict)
    reductions: tuple[Reduction, ...] = field(default=(), compare=False)  # their arrays count
    path_ranges: tuple[range, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        """True if all paths and their outputs are finite, as `status` says."""
        return self.status == "success"

    def index(self, output: str) -> int:
        """Return the index of the output with this name."""
        validation.check_choice("output", output, self.outputs)
        return self.outputs.index(output)

    def __getitem__(self, output: str) -> Output:
        """Return what the result has of one output, by its name: ``result["drift"].mean``.

        Raises
        ------
        TypeError, ValueError : there is no output with this name
        """
        if not isinstance(output, str):
            raise TypeError(f"results are read by the name of an output, got {output!r}")
        k = self.index(output)
        views = {
            name: self.values[name][(slice(None),) * axes.index("output") + (k,)]
            for name, axes in self.axes().items()
            if "output" in axes
        }
        return Output(output, self.t, views, self.reductions)

    def axes(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the axes of each array in `values`: t, output, path, probability."""
        names = {name: axes for one in self.reductions for name, axes in one.axes.items()}
        return {name: names[name] for name in self.values}

    def exceedance(self, output: str, levels: ArrayLike, *, confidence: float = 0.95) -> Exceedance:
        """Return the probabilities that the largest |output| of a path exceeds levels.

        Parameters
        ----------
        output : name of the output
        levels : number, or (levels,) array
        confidence : probability with which the intervals of Wilson contain the true value

        Raises
        ------
        TypeError, ValueError
            There is no such output, the result has no peaks (`reduction="peaks"`), a peak is NaN,
            or a level is.
        """
        from rode.results.exceedance import Exceedance

        k = self.index(output)
        if self.peaks is None:
            raise ValueError('exceedance needs peaks: pass reduction="peaks" to rode.solve')
        return Exceedance.of(self.peaks[k], levels, confidence)

    def as_columns(self) -> dict[str, np.ndarray]:
        """Return what `to_frame` has of statistics over time, as arrays by name; "t" has times.

        They are ``NAME_mean``, ``NAME_std`` and ``NAME_q0.95`` for each output, as requested.
        """
        from rode.results.labelled import statistics_columns

        return statistics_columns(self.t, self.outputs, self.reductions, self.values)

    def to_frame(self, kind: str | None = None) -> pandas.DataFrame:
        """Return a pandas DataFrame.

        Parameters
        ----------
        kind : {"statistics", "peaks", "paths"}, optional
            "statistics": a row for each time, with the columns of `as_columns`; "peaks": a row for
            each path, a column for each output; "paths": a row for each time, a column for each
            output and path. By default the first of them that the result has.

        Raises
        ------
        ValueError : the result does not have it
        """
        from rode.results.labelled import make_frame

        columns = None if self.mean is None and self.quantiles is None else self.as_columns()
        return make_frame(self.t, self.outputs, columns, self.values, kind)

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` of all reductions that were requested.

        Its dimensions are t, output, path and probability. Needs the package xarray.

        Raises
        ------
        ImportError : xarray is not installed
        """
        from rode.results.labelled import make_dataset

        variables = {name: (axes, self.values[name]) for name, axes in self.axes().items()}
        coordinates = {"t": self.t, "output": self.outputs, "probability": self.probabilities}
        facts = {"status": self.status, "message": self.message, "paths": self.work.paths}
        return make_dataset(variables, coordinates, facts)

    def __repr__(self) -> str:
        return (
            f"Result({self.status}: {self.work.paths} paths of {', '.join(self.outputs)}; "
            f"{_shapes(self.values)})"
        )

    def plot(self, ax: Axes | None = None, *, output: str | None = None) -> Figure:
        """Draw the outputs over time: mean, quantiles or standard deviation, and some paths.

        A result that has only peaks is drawn as a histogram of them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Draw one output on these axes.
        output : str, optional
            Name of the output. By default all of them, or on `ax` the first.

        Returns
        -------
        matplotlib.figure.Figure
            A new one of pyplot, which notebooks and `pyplot.show()` show, or that of `ax`.

        Raises
        ------
        ValueError : there is no such output, or there is nothing to draw
        """
        from rode.results.plots import Curves, plot_curves

        curves = Curves(self.t, self.outputs, self.values, self.probabilities, self.work.paths)
        return plot_curves(curves, ax, None if output is None else self.index(output))

    def _repr_html_(self) -> str:
        times = f"{self.t.size} from {self.t[0]:g} s to {self.t[-1]:g} s" if self.t.size else "none"
        rows = [
            ("status", self.status),
            ("message", self.message),
            ("outputs", ", ".join(self.outputs)),
            ("paths computed", f"{self.work.paths:,}"),
            ("fine steps", f"{self.work.fine_steps:,}"),
            ("normal numbers", f"{self.work.normals:,}"),
            ("saved times", times),
        ]
        rows += [(name, f"array {array.shape}") for name, array in self.values.items()]
        table = html_table("rode.Result", rows)
        if not (self.success and self.values):
            return table
        return table_with_picture(table, self.plot, "outputs over time")


def _shapes(values: Mapping[str, np.ndarray]) -> str:
    """Return names and shapes of arrays as a text."""
    return ", ".join(f"{name} {array.shape}" for name, array in values.items())
