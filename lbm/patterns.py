"""Memory patterns as data: where a step finds each population and where it leaves it.

A `Place` is a slot (which of the 19 arrays) and a shift (whose cell, relative to the one that is
updated). A pattern has one `Access` for even and one for odd steps; the kernels of both targets,
the halo exchange, the output and the checkpoints all read these tables and nothing else.

A-B: Wellein et al. (2006). A-A: Bailey et al. (2009), the alpha and beta steps of the thesis's
section 13.3. Esoteric pull: Lehmann (2022), https://doi.org/10.3390/computation10060092.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lbm.lattice import OPPOSITE, PAIRS, C, Q

HERE = (0, 0, 0)


class Place(NamedTuple):
    """A slot of the cell at `shift` from the one that is updated."""

    slot: int
    shift: tuple[int, int, int]


@dataclass(frozen=True)
class Access:
    """Places of one step, each indexed by population.

    Attributes
    ----------
    load : where population q, arriving from x - c_q, is read
    store : where it is written after the collision, on its way to x + c_q
    wall : where population q is read instead when x - c_q is a wall, and where the step writes the
        reflection of its opposite. It is the same place in every step, and no other cell uses it.
    """

    load: tuple[Place, ...]
    store: tuple[Place, ...]
    wall: tuple[Place, ...]

    @property
    def reflected(self) -> tuple[Place, ...]:
        """Where population q is written when x + c_q is a wall."""
        return tuple(self.wall[q] for q in OPPOSITE)

    @property
    def bounces(self) -> bool:
        """Whether the places are the same at walls: the step bounces back without knowing it."""
        return self.load == self.wall and self.store == self.reflected

    def reaches(self, dx: int) -> bool:
        """Whether the step uses a place of the neighbour at x + dx."""
        return any(p.shift[0] == dx for p in self.load + self.store + self.wall)


@dataclass(frozen=True)
class Pattern:
    """A memory pattern.

    Attributes
    ----------
    copies : arrays of populations: 2 when a step reads one and writes the other, 1 in place
    steps : Access of even steps and of odd steps
    """

    name: str
    copies: int
    steps: tuple[Access, Access]

    def access(self, step: int) -> Access:
        """Places of step number `step`, counted from 0."""
        return self.steps[step % 2]


def _back(q: int) -> tuple[int, int, int]:
    return C[OPPOSITE[q]]


def _ab() -> Pattern:
    step = Access(
        load=tuple(Place(q, _back(q)) for q in range(Q)),
        store=tuple(Place(q, HERE) for q in range(Q)),
        wall=tuple(Place(OPPOSITE[q], HERE) for q in range(Q)),
    )
    return Pattern("ab", 2, (step, step))


def _aa() -> Pattern:
    own = tuple(Place(q, HERE) for q in range(Q))
    alpha = Access(load=own, store=tuple(Place(OPPOSITE[q], HERE) for q in range(Q)), wall=own)
    beta = Access(
        load=tuple(Place(OPPOSITE[q], _back(q)) for q in range(Q)),
        store=tuple(Place(q, C[q]) for q in range(Q)),
        wall=own,
    )
    return Pattern("aa", 1, (alpha, beta))


def _esoteric_pull() -> Pattern:
    """Of a pair (i, j): i is kept in the cell, j in its neighbour at +c_i; slots swap each step."""

    def places(odd: bool, stored: bool) -> tuple[Place, ...]:
        found = [Place(0, HERE)]
        for i, j in PAIRS:
            own, far = Place(i if odd else j, HERE), Place(j if odd else i, C[i])
            found += [far, own] if stored else [own, far]
        return tuple(found)

    wall = places(odd=False, stored=False)
    return Pattern(
        "esoteric",
        1,
        tuple(Access(places(odd, False), places(odd, True), wall) for odd in (False, True)),
    )


PATTERNS = {p.name: p for p in (_ab(), _aa(), _esoteric_pull())}
