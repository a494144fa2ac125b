"""Results: tridiagonal matrices, transformations, spectra and forecasts; and the exception."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hetero.devices import device_of
from hetero.display.notebook import html_table, table_with_picture
from hetero.equality import equal_by_value
from sbth._back.reflections import Reflections
from sbth._problem.arrays import copy_like, copy_to_host
from sbth._problem.validation import validate_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@equal_by_value
class Tridiagonal(NamedTuple):
    """A symmetric tridiagonal matrix T.

    Attributes
    ----------
    d : array (n,)
        Diagonal.
    e : array (n - 1,)
        Subdiagonal.
    """

    d: Any
    e: Any

    def _repr_html_(self) -> str:
        return _describe(self.d)


@equal_by_value
@dataclass(frozen=True, eq=False)
class Reflectors:
    """The orthogonal Q in A = Q T Q^T, as a product of reflections.

    Attributes
    ----------
    order : int
    stages : tuple of Reflections
        The stages of the reduction, in their order, in host memory.
    dtype : float32 or float64
        Type of the matrix that was reduced.
    """

    order: int
    stages: tuple[Reflections, ...] = ()
    dtype: type | np.dtype = np.float64

    def __repr__(self) -> str:
        stages = ", ".join(f"{stage.before} to {stage.after}" for stage in self.stages)
        return (
            f"Reflectors(order={self.order}, dtype={np.dtype(self.dtype).name}, "
            f"subdiagonals: {stages or 'unchanged'})"
        )

    def apply(self, x: ArrayLike, *, transposed: bool = False) -> Any:
        """Return Q x, or Q^T x, with 2 n^2 operations for each column and stage.

        Parameters
        ----------
        x : array_like (n,) or (n, columns)
            An array on a GPU is copied to the host, where Q is, and the result back to that GPU.

        Returns
        -------
        array like x
            In the more precise of the types of `x` and of the reduced matrix; what is neither
            float32 nor complex64 counts as double precision.

        Raises
        ------
        TypeError, ValueError
            `x` does not hold numbers or does not have n rows, or is complex and on a GPU.
        """
        if device_of(x) is not None:
            return copy_like(self.apply(copy_to_host("x", x), transposed=transposed), x)
        x = validate_numbers("x", x)
        if x.ndim not in (1, 2) or len(x) != self.order:
            raise ValueError(f"x must have {self.order} rows, got shape {x.shape}")
        columns = math.prod(x.shape[1:])
        dtype = np.result_type(x.dtype, self.dtype)
        result = np.array(x.reshape(self.order, columns), dtype=dtype)
        # Real and imaginary parts are columns of their own.
        parts = result.view(result.real.dtype)
        for stage in self.stages if transposed else self.stages[::-1]:
            stage.apply(np, parts, transposed=transposed)
        return result.reshape(x.shape)


@equal_by_value
class TridiagonalReduction(NamedTuple):
    """A symmetric tridiagonal matrix T, and the transformation in A = Q T Q^T.

    Attributes
    ----------
    d : array (n,)
        Diagonal.
    e : array (n - 1,)
        Subdiagonal.
    reflectors : Reflectors
        The transformation Q, in host memory.
    """

    d: Any
    e: Any
    reflectors: Reflectors

    def _repr_html_(self) -> str:
        return _describe(self.d, ("transformation", self.reflectors))


@equal_by_value
@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a symmetric matrix; `numpy.asarray` gives the eigenvalues alone.

    Attributes
    ----------
    values : array
        The eigenvalues that were asked for, ascending; multiple ones are repeated.
    order : int
        Order of the matrix.
    bandwidth : int
        Number of its subdiagonals, after the permutation if there was one.
    method : {"band", "dense"}
        How the matrix was reduced to tridiagonal form.
    permuted : bool
        Whether its rows and columns were permuted to narrow the band.
    """

    values: np.ndarray = field(repr=False)
    order: int
    bandwidth: int
    method: str
    permuted: bool

    def __len__(self) -> int:
        return self.values.size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype, copy=True if copy is None else copy)

    def _facts(self) -> list[tuple[str, object]]:
        """Return what a table of the spectrum says."""
        permuted = " (permuted)" if self.permuted else ""
        facts: list[tuple[str, object]] = [
            ("order", self.order),
            ("subdiagonals", f"{self.bandwidth}{permuted}"),
            ("reduced as", f"{self.method} matrix"),
            ("eigenvalues", f"{self.values.size:,} of {self.order:,}"),
        ]
        if self.values.size:
            facts += [("smallest", repr(float(self.values[0])))]
            facts += [("largest", repr(float(self.values[-1])))]
        return facts

    def summary(self) -> str:
        """Return a table of the matrix and the range of its eigenvalues."""
        return "\n".join(f"{name:<12}  {value}" for name, value in self._facts())

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the density of the eigenvalues, and how many lie below each value.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Draw the density alone, on these axes.

        Returns
        -------
        matplotlib.figure.Figure
            A new one of pyplot, which notebooks and `pyplot.show()` show, or that of `ax`.

        Raises
        ------
        ValueError
            There is no eigenvalue.
        """
        from hetero.display import figures  # imports matplotlib

        values, order = self.values, self.order
        if not values.size:
            raise ValueError("there is no eigenvalue to draw")
        with figures.figure_style():
            if ax is not None:
                ax = figures.axes_of(ax)
                _draw_density(ax, values)
                return figures.figure_of(ax)
            figure = figures.shown_figure((10.0, 3.8))
            left, right = figure.subplots(1, 2)
            _draw_density(left, values)
            size = min(values.size, _MOST_POINTS)
            few = np.unique(np.linspace(0, values.size - 1, size).astype(int))
            style: Any = {"color": figures.PALETTE[0], "drawstyle": "steps-post"}
            right.plot(values[few], few + 1, **style)
            total = "" if values.size == order else f", of {order:,} in all"
            title = f"Number of eigenvalues ({values.size:,}{total})"
            right.set(xlabel="x", ylabel="eigenvalues up to x", title=title)
            return figure

    def _repr_html_(self) -> str:
        table = html_table("Spectrum", self._facts())
        if not self.values.size:
            return table
        return table_with_picture(table, self.plot, "density and number of eigenvalues")


_BINS = (10, 120)
"""Fewest and most bins of a histogram, whose number is the root of that of the eigenvalues."""

_MOST_POINTS = 4000  # of a curve: more do not show


def _draw_density(axes: Axes, values: np.ndarray) -> None:
    """Draw a histogram whose area is 1."""
    from hetero.display.figures import DATA_COLOUR, PALETTE

    bins = int(np.clip(np.sqrt(values.size), *_BINS))
    low, high = float(values[0]), float(values[-1])
    if not high > low:  # a single eigenvalue, perhaps multiple
        low, high = low - 0.5, high + 0.5
    density, edges = np.histogram(values, bins, (low, high), density=True)
    axes.stairs(density, edges, fill=True, color=DATA_COLOUR)
    axes.stairs(density, edges, color=PALETTE[0], linewidth=1.0)
    axes.set(xlabel="eigenvalue", ylabel="density", title="Density of eigenvalues")


@dataclass(frozen=True)
class EigshForecast:
    """Method by which `eigsh` solves a problem, and a rough forecast of its cost.

    Attributes
    ----------
    method : {"lanczos", "band"}
        What is used: thick-restart Lanczos, or a reduction of the matrix.
    reason : str
        Why it is used, as a sentence.
    order : int
        Order of the matrix.
    bandwidth : int or None
        Subdiagonals of the matrix after a reverse Cuthill-McKee permutation, or before if these are
        fewer; None if they were not determined.
    lanczos_seconds, band_seconds : float or None
        Forecasts for a CPU, seldom wrong by more than a factor of ten; None if none was made.
    """

    method: str
    reason: str
    order: int
    bandwidth: int | None = None
    lanczos_seconds: float | None = None
    band_seconds: float | None = None


def _describe(d: Any, *rows: tuple[str, object]) -> str:
    """Return an HTML table for a tridiagonal matrix with the diagonal `d`."""
    device = device_of(d) or "host memory"
    facts = ("order", len(d)), ("type", d.dtype), ("arrays on", device), *rows
    return html_table("Tridiagonal matrix", facts)


class NoConvergenceError(RuntimeError):
    """Lanczos iterations ended before all wanted eigenpairs had converged.

    Attributes
    ----------
    eigenvalues : array (m,)
        The eigenvalues that have converged, m <= k, in ascending order.
    eigenvectors : array (n, m)
        Their eigenvectors.
    """

    def __init__(self, message: str, eigenvalues: Any, eigenvectors: Any):
        super().__init__(message)
        self.eigenvalues, self.eigenvectors = eigenvalues, eigenvectors

    def __reduce__(self) -> tuple[type, tuple]:  # the base class would call with the message alone
        return type(self), (str(self), self.eigenvalues, self.eigenvectors)
