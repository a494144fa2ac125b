"""Seconds of each phase of a search on a GPU, between events in its stream."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from hetero.cuda.driver import cuda
from hetero.measurement.limit_loops.cuda import keep_busy
from hetero.measurement.queue_timer import LAUNCH_ROUNDS
from tmd._search import make_batch
from tmd._search.gpu.buffers import Buffers, return_buffers, take_buffers
from tmd._search.gpu.phases import Ticket, launch_phase_1, launch_phase_2, launch_phase_3
from tmd._search.planning import Plan
from tmd.functions.function import Function

OPERATIONS = 12
"""Launches and copies of the three phases, at most: so long the stream is kept busy before them."""


class _FilledBuffers:
    """Memory of a batch that keeps its inputs, so that a second run of the phases copies none."""

    def __init__(self, buffers: Buffers) -> None:
        self._buffers = buffers
        self._inputs: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffers, name)

    def upload(self, name: str, array: np.ndarray) -> Any:
        """Return the input of this name, which the first call copies to the GPU."""
        if name not in self._inputs:
            self._inputs[name] = self._buffers.upload(name, array)
        return self._inputs[name]


def time_phases(function: Function, plan: Plan) -> tuple[float, float, float]:
    """Return the seconds of the three phases on all of a block, which one batch must hold.

    The same block must have been searched before, which makes room for what fails a test.

    Raises
    ------
    RuntimeError : there is no room for what fails a test
    """
    batch = make_batch(function, plan, 0, plan.super_blocks)
    buffers = take_buffers()
    filled: Any = _FilledBuffers(buffers)
    ticket = Ticket(filled, batch, plan)
    _run_phases(ticket)
    events = _run_phases(ticket)
    counts, room = [int(n) for n in buffers.host_counters[:3]], buffers.capacity
    if any(n > most for n, most in zip(counts, room, strict=True)):
        raise RuntimeError(f"the phases passed {counts} on, and the buffers have room for {room}")
    return_buffers(buffers)
    first, second, third = (
        1e-3 * float(begin.elapsed_time(end)) for begin, end in itertools.pairwise(events)
    )
    return first, second, third


def _run_phases(ticket: Ticket) -> list[Any]:
    """Run the phases behind other work, and return the events around and between them."""
    stream = ticket.buffers.stream
    events = [cuda.event(timing=True) for _ in range(4)]
    numbers = cuda.to_device(np.ones(1), stream=stream)
    keep_busy[1, 1, stream](LAUNCH_ROUNDS * OPERATIONS, numbers)
    events[0].record(stream)
    table, subdomain_counts = launch_phase_1(ticket)
    events[1].record(stream)
    launch_phase_2(ticket, table)
    events[2].record(stream)
    launch_phase_3(ticket, table, subdomain_counts)
    events[3].record(stream)
    ticket.buffers.counters.copy_to_host(ticket.buffers.host_counters, stream=stream)
    stream.synchronize()
    return events
