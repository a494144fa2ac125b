"""The data that an exchange sends: populations that have crossed a face, or further fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from lbm._parallel.exchange import Worker
from lbm._parallel.parts import Part
from lbm._parallel.planes import Face, FieldFace, MomentsFace, PopulationFace
from lbm.lattices.extent import Triple


class HaloData(Protocol):
    """Arrays [slot, cell] of parts, and their planes that cross the faces between them.

    Attributes
    ----------
    is_mapped : whether GPUs can access the arrays of parts on the CPU
    """

    is_mapped: bool

    def face(self, part: Part, axis: int, outside: int) -> Face:
        """Return the face of a part towards +axis or -axis."""
        ...

    def array(self, worker: Worker, part: Part, odd: int, for_gpu: bool) -> Any:
        """Return the array of a part whose planes cross its faces after an even or odd step."""
        ...


class Populations:
    """The populations of a flow, in memory that all devices of the process can access."""

    is_mapped = True

    def face(self, part: Part, axis: int, outside: int) -> Face:
        """Return a face of a part."""
        return PopulationFace(part, axis, outside)

    def array(self, worker: Worker, part: Part, odd: int, for_gpu: bool) -> Any:
        """Return the populations that an even or odd step writes."""
        return worker.populations_after(odd, for_gpu)


class Moments:
    """The moments of a flow, whose halos are filled before a step."""

    is_mapped = True

    def face(self, part: Part, axis: int, outside: int) -> Face:
        """Return a face of a part."""
        return MomentsFace(part, axis, outside)

    def array(self, worker: Worker, part: Part, odd: int, for_gpu: bool) -> Any:
        """Return the moments that an even or odd step writes, in one row."""
        return part.engine.target(odd).reshape(1, -1)


class Field:
    """Rows of a field of the parts, each in the memory of its device only.

    Parameters
    ----------
    arrays : by the index of a part, its arrays [row, z, y, x] after even and after odd steps
    rows : rows(axis) -> those that move towards +axis, and those that move towards -axis
    beyond : whether what moves is beyond the face already, as populations that have streamed are;
        otherwise the cells at the face are copied to the neighbour's halo
    masks : by (index of a part, axis, outside), the elements [u, v] that may be written; all where
        there is none
    """

    is_mapped = False

    def __init__(
        self,
        arrays: Mapping[Triple, Sequence[Any]],
        rows: Callable[[int], tuple[Sequence[int], Sequence[int]]],
        beyond: bool,
        masks: Mapping[tuple[Triple, int, int], np.ndarray] | None = None,
    ):
        self._arrays, self._rows, self._beyond = arrays, rows, beyond
        self._masks = masks or {}

    def face(self, part: Part, axis: int, outside: int) -> Face:
        """Return a face of a part."""
        mask = self._masks.get((part.index, axis, outside))
        return FieldFace(part, axis, outside, self._rows(axis), self._beyond, mask)

    def array(self, worker: Worker, part: Part, odd: int, for_gpu: bool) -> Any:
        """Return the field of a part after an even or odd step."""
        field = self._arrays[part.index][odd]
        return field.reshape(field.shape[0], -1)
