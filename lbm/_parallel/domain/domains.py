"""Domains of one process, for measurements: a problem on one or several devices."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.devices import Device
from lbm._kernels.problem import Problem
from lbm._parallel.domain.domain import Domain, create_domain
from lbm._parallel.partition import Decomposition, choose_decomposition, make_partition
from lbm._parallel.ranks.communication import Ranks
from lbm.boundaries import Condition, Periodic


def make_domain(
    problem: Problem,
    devices: Device | Sequence[Device],
    faces: Sequence[Condition] | None = None,
    ratio: float = 0.0,
    decomposition: Decomposition | None = None,
) -> Domain:
    """Create a domain of one process, whose boxes are computed by one device each.

    Parameters
    ----------
    problem : the flow in the whole domain
    devices : a device, or one for each box
    faces : conditions at the faces; by default all are periodic
    ratio : share of the rows of each box that the CPU computes
    decomposition : how the domain is cut; by default with the cheapest faces
    """
    devices = [devices] if isinstance(devices, Device) else list(devices)
    lanes = problem.precision.lanes
    if decomposition is None:
        decomposition = choose_decomposition(problem.shape, len(devices), lanes)
    faces = [Periodic()] * 6 if faces is None else faces
    partition = make_partition(problem.shape, faces, decomposition, lanes, one_rank=True)
    return create_domain(problem, partition, devices, ratio, Ranks())
