"""Lattices: a file for each, and the names by which they are chosen."""

from __future__ import annotations

from hetero.validation import check_choice
from lbm.lattices.d3q19 import D3Q19 as D3Q19
from lbm.lattices.d3q27 import D3Q27 as D3Q27
from lbm.lattices.lattice import CS2 as CS2
from lbm.lattices.lattice import SOUND as SOUND
from lbm.lattices.lattice import Lattice as Lattice

LATTICES = {lattice.name: lattice for lattice in (D3Q19, D3Q27)}
"""Lattices by their names, which simulations, case files and commands take."""

DEFAULT = D3Q19.name
"""Name of the lattice that is used where none is named."""


def choose_lattice(lattice: str | Lattice) -> Lattice:
    """Return a lattice that is given by its name, or as one of `LATTICES`."""
    name = lattice.name if isinstance(lattice, Lattice) else lattice
    chosen = LATTICES[check_choice("lattice", name, tuple(LATTICES))]
    if isinstance(lattice, Lattice) and (
        lattice.velocities != chosen.velocities or lattice.exact_weights != chosen.exact_weights
    ):
        raise ValueError(
            f"lattice is called {name!r}, but has other velocities or weights: use lbm.{name} "
            "itself, since lattices of one's own are not supported"
        )
    return chosen


def lattice_of_size(size: int) -> Lattice:
    """Return the lattice with so many populations."""
    for lattice in LATTICES.values():
        if lattice.size == size:
            return lattice
    raise ValueError(f"no lattice has {size} populations: those of the package are {[*LATTICES]}")
