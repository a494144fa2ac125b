"""The choice of a domain: on one device, or split between the CPU and a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.devices import Device
from lbm._domain.domain import Domain, SingleDomain
from lbm._domain.split_domain import SplitDomain
from lbm._model.problem import Problem
from lbm.boundaries import Condition


def make_domain(
    problem: Problem, device: Device, faces: Sequence[Condition], cut: int = 0
) -> Domain:
    """Create a domain whose first `cut` rows are computed by the CPU, the others by `device`."""
    cpu = Device("cpu")
    if cut == 0:
        return SingleDomain(problem, device)
    if cut == problem.shape[1]:
        return SingleDomain(problem, cpu)
    return SplitDomain(problem, [cut], [cpu, device], faces)
