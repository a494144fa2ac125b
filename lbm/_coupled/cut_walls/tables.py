"""Tables of the links of a block that end at interpolated walls: addresses and coefficients."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lbm._kernels.moments.arrivals import find_arrivals, number_cells
from lbm._kernels.problem import Problem, population_indices, wall_return_indices
from lbm.boundaries.free_stream import EQUILIBRIUM
from lbm.geometry.cut_links import CutLinks, find_mates, interpolate_linearly
from lbm.geometry.wall_links import INTO

MASS_UNIT = 2.0**-48
"""Unit in which the mass that walls bring in is summed, density times cells: 16 times the rounding
of 1 in float64. Sums overflow at 30,000; links bring in a thousandth each at most, of either
sign."""


class LinkTable(NamedTuple):
    """Addresses and coefficients of links; see `cut_links.interpolate_linearly`.

    Attributes
    ----------
    wall : int64 [link], where walls have returned the populations in the flat array of a block
    other : int64 [parity of the step, link], where the second population is after such a step
    sent_share, other_share : float64 [link], coefficients of the populations at these addresses
    wall_terms : float64 [link], what is subtracted because walls move
    weight : float64 [link], weights w_q
    mass_share : mass of a unit of the excess over the sum of the weights of all links of the
        domain, or 0 if mass may leave and need not be kept
    """

    wall: np.ndarray
    other: np.ndarray
    sent_share: np.ndarray
    other_share: np.ndarray
    wall_terms: np.ndarray
    weight: np.ndarray
    mass_share: float


class MomentsTable(NamedTuple):
    """Further arrays for links of a block whose state is moments, besides a `LinkTable`.

    Attributes
    ----------
    numbers, populations, rows : int64 [2, link], where the population that the wall gets, and the
        second one, come from, as in `lbm._kernels.moments.arrivals.Arrivals`
    first : int64 [cell + 1], first link of each cell
    """

    numbers: np.ndarray
    populations: np.ndarray
    rows: np.ndarray
    first: np.ndarray


class BlockLinks:
    """The links of a block, from which tables are made.

    Parameters
    ----------
    problem : the block, whose `links.cut` has links
    modelled : names of the solids with modelled walls. What these return is that of walls half-way:
        interpolated links of cells that slip would disturb the stream along oblique walls.
    """

    def __init__(self, problem: Problem, modelled: Collection[str] = ()):
        assert problem.links.cut is not None
        self._problem, self._cut = problem, problem.links.cut
        self._opposite = np.array(self._cut.lattice.opposite)[self._cut.q]
        self._mates = find_mates(self._cut.cells, self._cut.q, problem.lattice.opposite)
        numbers = [k for k, name in enumerate(self._cut.names) if name in modelled]
        distance = np.where(np.isin(self._cut.body, numbers), 0.5, self._cut.distance)
        self._shares = interpolate_linearly(distance, self._mates)
        z, y, x = self._cut.cells.T
        self._classes = problem.links.classes[z, y, x]
        self._rows = self._find_rows_behind()
        if problem.precision.moments:  # its f_-q after the collision is that of no wall
            self._rows[:] = -1
        self._changed = np.flatnonzero(self._rows >= 0)
        from_stream = problem.links.into_streams()[self._classes, self._opposite]
        from_stream &= self._shares.is_behind & (not problem.precision.moments)
        self._from_stream = np.flatnonzero(from_stream)  # their second population is not yet there

    @property
    def is_varying(self) -> bool:
        """Return whether the terms of walls change from step to step."""
        links, k = self._problem.links, self._from_stream
        behind = links.wall_rows[self._classes[k], self._opposite[k], 0]
        rows = np.append(self._rows[self._changed], behind)
        return bool(self._cut.moving) or bool(links.is_varying[rows].any())

    def make_table(self, mass_share: float) -> LinkTable:
        """Return the table of all links, with the terms of walls in step 0."""
        cut, shares = self._cut, self._shares
        wall = wall_return_indices(self._problem, cut.cells, cut.q)
        other = np.stack([self._other_indices(odd) for odd in (0, 1)])
        share, is_outlet = shares.other.copy(), self._problem.links.wall_types[:, 0] != 0.0
        share[self._changed] *= np.where(is_outlet[self._rows[self._changed]], -1.0, 1.0)
        share[self._from_stream] = 0.0
        terms = self.wall_terms_in(0)
        return LinkTable(wall, other, shares.sent, share, terms, cut.weights, mass_share)

    def make_moments_table(self) -> MomentsTable:
        """Return where the populations of all links come from, if moments are stored."""
        cut, problem, is_behind = self._cut, self._problem, self._shares.is_behind
        cells, none = number_cells(problem, cut.cells), np.full(len(cut), -1)
        behind = find_arrivals(problem, cut.cells, cut.q)
        in_cell = cells, self._opposite, none
        numbers, populations, rows = (
            np.stack([first, np.where(is_behind, a, b)])
            for first, a, b in zip((cells, cut.q, none), behind, in_cell, strict=True)
        )
        first = np.append(np.flatnonzero(np.diff(cells, prepend=-1)), len(cut))
        return MomentsTable(numbers, populations, rows, first)

    def wall_terms_in(self, step: int) -> np.ndarray:
        """Return `LinkTable.wall_terms` of a step."""
        terms, shares = self._cut.wall_terms_in(step), self._shares
        mates = np.where(self._mates >= 0, terms[self._mates], 0.0)
        total: np.ndarray = shares.wall * terms + shares.mate_wall * mates
        total[self._changed] -= shares.other[self._changed] * self._find_offsets(step)
        if len(k := self._from_stream):
            links = self._problem.links
            links = replace(links, wall_types=links.wall_types_in(step))
            returned = links.returned_by_streams()[self._classes[k], self._opposite[k]]
            total[k] -= shares.other[k] * returned
        return total

    @property
    def _opposite_is_wall(self) -> np.ndarray:
        """Return whether the links opposite to these run into walls too, bool [link]."""
        bits = self._problem.links.masks[self._classes, INTO]
        opposite = self._opposite.astype(np.uint32)
        return (bits >> opposite & np.uint32(1)).astype(bool)

    def _find_rows_behind(self) -> np.ndarray:
        """Return the row of the wall behind the cell where it has changed f_-q, or -1, [link].

        That matters where f_-q after the collision is the second population.
        """
        links, opposite = self._problem.links, self._opposite
        matters = self._opposite_is_wall & (self._mates < 0) & ~self._shares.is_behind
        rows = links.wall_rows[self._classes, opposite, 0].astype(np.int64)
        return np.where(matters, rows, -1)

    def _find_offsets(self, step: int) -> np.ndarray:
        """Return f_-q less the value that the wall behind the cell has returned, or plus it.

        A wall that moves has returned f_-q - 6 w (c_-q . U). An outlet has returned 2 w (rho - 1)
        - f_-q, plus terms of second order in the velocity of the cell, which lies beside a wall and
        is slow: they are neglected. A step takes a stream for an outlet of density 1.
        """
        types = self._problem.links.wall_types_in(step)[self._rows[self._changed]]
        along = -(types[:, 2:] * self._cut.directions[self._changed]).sum(axis=1)
        along[types[:, 0] == EQUILIBRIUM] = 0.0
        weight = self._cut.weights[self._changed]
        return weight * (6.0 * along + 2.0 * types[:, 1])

    def _other_indices(self, odd: int) -> np.ndarray:
        """Return where the second populations are after an even or odd step, int64 [link]."""
        cut, problem = self._cut, self._problem
        now, after = problem.pattern.steps[odd], problem.pattern.steps[1 - odd]
        opposite = self._opposite
        behind = population_indices(problem, cut.cells, cut.q, after.load)
        opposite_stored = population_indices(problem, cut.cells, opposite, now.store)
        free = np.where(self._shares.is_behind, behind, opposite_stored)
        # What a wall has returned to a pair of populations that slip is that of the other one.
        mirrored = problem.links.wall_rows[self._classes, opposite, 1].astype(np.int64)
        mirrored = np.where(self._shares.is_behind, opposite, mirrored)
        at_wall = wall_return_indices(problem, cut.cells, mirrored)
        return np.where(self._opposite_is_wall, at_wall, free)


def sum_of_weights(cut: CutLinks | None) -> int:
    """Return the sum of the weights of all links in units of the lattice's smallest, exactly."""
    if cut is None:
        return 0
    unit = cut.lattice.weight_unit
    exact = np.array([int(w / unit) for w in cut.lattice.exact_weights])
    return int(exact[cut.q].sum())
