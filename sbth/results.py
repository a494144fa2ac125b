"""Results of `tridiagonalize`, named tuples that unpack into their arrays, and of `spectrum`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetero.devices import device_of
from hetero.display.notebook import html_table, table_with_picture
from hetero.equality import equal_by_value
from sbth.reflectors import Reflectors

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
        from sbth._plots import plot_spectrum

        return plot_spectrum(self.values, self.order, ax)

    def _repr_html_(self) -> str:
        table = html_table("Spectrum", self._facts())
        if not self.values.size:
            return table
        return table_with_picture(table, self.plot, "density and number of eigenvalues")


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
