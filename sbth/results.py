"""Results of `tridiagonalize`: named tuples, which unpack into their arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from hetero.devices import device_of
from hetero.notebook import html_table
from sbth.reflectors import Reflectors


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


def _describe(d: Any, *rows: tuple[str, object]) -> str:
    """Return an HTML table for a tridiagonal matrix with the diagonal `d`."""
    device = device_of(d) or "host memory"
    facts = ("order", len(d)), ("type", d.dtype), ("arrays on", device), *rows
    return html_table("Tridiagonal matrix", facts)
