"""Arrays from which loops draw an excitation: its start, its law over a coarse step, envelopes."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from scipy import linalg

from rode._solver.path_sums import filter_distribution
from rode.excitations.excitation import Excitation, values_of


class Shape(NamedTuple):
    """Sizes of an excitation that loops are compiled for.

    Attributes
    ----------
    dimension : number of unknowns of the equation
    states : number of states of all filters
    components : number of components of u
    targets : component of u that each output of a filter is added to
    sums : number of integrals J_0, J_1, .. of each output
    numbers : how many normal numbers a coarse step takes
    is_given : whether a part of u is not random
    """

    dimension: int
    states: int
    components: int
    targets: tuple[int, ...]
    sums: int
    numbers: int
    is_given: bool

    @property
    def unknowns(self) -> int:
        """Number of unknowns, states and components, which a path keeps."""
        return self.dimension + self.states + self.components


class ExcitationArrays(NamedTuple):
    """Arrays of an excitation, in float64.

    Attributes
    ----------
    starting : (states, 1 + states), mean and factor of the law of the states at the start
    drawing : (states + outputs * sums, states + numbers), of states at the end of a step and
        J_0, J_1, .. of each output, from the states before and normal numbers
    outputs : (outputs, states), outputs of the filters
    envelopes : (steps + 1, outputs), at the ends of coarse steps
    given : (steps, components, sums + 1, records), u at both ends of a step and J_0, J_1, ..
    """

    starting: np.ndarray
    drawing: np.ndarray
    outputs: np.ndarray
    envelopes: np.ndarray
    given: np.ndarray

    def digest(self) -> str:
        """Return a hash of all numbers."""
        result = hashlib.blake2b(digest_size=16)
        for array in self:
            result.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return result.hexdigest()


def describe(
    excitation: Excitation, dimension: int, t0: float, h: float, steps: int, forms: int
) -> tuple[Shape, ExcitationArrays]:
    """Return sizes and arrays for a scheme with `forms` linear forms.

    An envelope that is linear within a step multiplies J_d by its value at the start, and adds its
    slope times the integral of r (h - r)^d/d! u_r = h J_d - (d + 1) J_(d+1): one integral more.
    """
    sources = list(excitation.sources())
    sums, components = forms + 1, excitation.components
    integrals = excitation.integrals(t0, h, steps, forms - 1)
    is_given = integrals is not None
    if integrals is None:
        integrals = np.zeros((1, 1, 1, 1))
    F, L, C, covariance = (
        linalg.block_diag(*[getattr(one, name) for one in sources]) if sources else np.zeros((0, 0))
        for name in ("F", "L", "C", "covariance")
    )
    states, outputs = len(F), len(C)
    mean = np.concatenate([one.mean for one in sources]) if sources else np.zeros(0)
    values, vectors = np.linalg.eigh(covariance) if states else (np.zeros(0), np.zeros((0, 0)))
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    if states:
        power, normal = filter_distribution(F, L, C, h, sums - 1)
        # Columns of numbers that nothing depends on are not drawn.
        used = np.flatnonzero(np.any(normal != 0.0, axis=0))
        drawing = np.hstack([power, normal[:, used]])
    else:
        drawing = np.zeros((0, 0))
    times = t0 + h * np.arange(steps + 1)
    columns = [
        np.broadcast_to(values_of(one.envelope, times)[:, None], (times.size, len(one.C)))
        for one in sources
    ]
    envelopes = np.hstack(columns) if sources else np.zeros((times.size, 0))
    targets = tuple(k for one in sources for k in range(len(one.C)))
    numbers = drawing.shape[1] - states
    shape = Shape(dimension, states, components, targets, sums, numbers, is_given)
    starting = np.hstack([mean[:, None], factor])
    assert outputs == len(targets)
    return shape, ExcitationArrays(starting, drawing, C, envelopes, integrals)
