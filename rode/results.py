"""Results of `solve`, and the reductions that it can be asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hetero import validation


@dataclass(frozen=True)
class Work:
    """Work of a run: paths, coarse steps of each, fine steps of all, normal numbers drawn."""

    paths: int
    coarse_steps: int
    fine_steps: int
    normals: int


@dataclass(frozen=True)
class Quantiles:
    """Reduction to these quantiles over paths at every saved time (linear between ranks)."""

    probabilities: tuple[float, ...]

    def __init__(self, *probabilities: float):
        checked = tuple(
            validation.check_in_range("probabilities", q, 0.0, 1.0) for q in probabilities
        )
        if not checked:
            raise ValueError("Quantiles needs at least one probability")
        object.__setattr__(self, "probabilities", checked)


@dataclass(frozen=True, eq=False)
class Result:
    """Result of `rode.solve`. Arrays are NumPy; reductions that were not requested are None.

    Attributes
    ----------
    t : (times,) array
    outputs : names of the outputs
    paths : (times, outputs, paths) array
    mean, variance : (times, outputs) arrays; the variance divides by the number of paths less one
    quantiles : (probabilities, times, outputs) array
    peaks : (outputs, paths) array: the largest absolute value over the coarse steps of each path;
        NaN if one of them is, as in `numpy.max`
    work : Work
    status : "success", or "diverged" if a path or one of its outputs became infinite or NaN
        Outputs count at the saved times, for peaks at every coarse step.
    message : explanation of the status: how many paths, and when
    """

    t: np.ndarray
    outputs: tuple[str, ...]
    work: Work
    status: str
    message: str
    paths: np.ndarray | None = field(default=None, repr=False)
    mean: np.ndarray | None = field(default=None, repr=False)
    variance: np.ndarray | None = field(default=None, repr=False)
    quantiles: np.ndarray | None = field(default=None, repr=False)
    peaks: np.ndarray | None = field(default=None, repr=False)

    def index(self, output: str) -> int:
        """Return the index of the output with this name."""
        validation.check_choice("output", output, self.outputs)
        return self.outputs.index(output)
