"""Search of batches on a GPU: three kernels, launched back to back without host synchronization.

`_search.gpu.phases` launches them.
"""

from __future__ import annotations

import numpy as np

from tmd._search.gpu.buffers import enlarge_capacity, return_buffers, take_buffers
from tmd._search.gpu.phases import (
    Ticket,
    launch_counts,
    launch_phase_1,
    launch_phase_2,
    launch_phase_3,
)
from tmd._search.planning import Batch, Plan


def start_batch(batch: Batch, plan: Plan) -> Ticket:
    """Start to search the super-blocks of a batch; `finish_batch` returns the candidates."""
    ticket = Ticket(take_buffers(), batch, plan)
    table, subdomain_counts = launch_phase_1(ticket)
    launch_phase_2(ticket, table)
    launch_phase_3(ticket, table, subdomain_counts)
    buffers = ticket.buffers
    buffers.counters.copy_to_host(buffers.host_counters, stream=buffers.stream)
    return ticket


def count_failing_subdomains(batch: Batch, plan: Plan) -> int:
    """Run phase 1 alone, for measurements; return the number of sub-domains that fail."""
    buffers = take_buffers()
    launch_phase_1(Ticket(buffers, batch, plan))
    buffers.counters.copy_to_host(buffers.host_counters, stream=buffers.stream)
    buffers.stream.synchronize()
    return_buffers(buffers)
    return int(buffers.host_counters[0])


def finish_batch(ticket: Ticket) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Await a batch and return its results, as `_search.cpu.finish_batch` does.

    A batch that exceeded its buffers is searched again with larger ones.
    """
    buffers, batch, plan = ticket
    buffers.stream.synchronize()
    counts = [int(n) for n in buffers.host_counters[:3]]
    if any(n > capacity for n, capacity in zip(counts, buffers.capacity, strict=True)):
        enlarge_capacity(counts)
        return finish_batch(start_batch(batch, plan))
    n = counts[2]
    numbers, words = np.empty(n, np.uint64), np.empty(n, np.uint64)
    if n:
        buffers.numbers[:n].copy_to_host(numbers, stream=buffers.stream)
        buffers.words[:n].copy_to_host(words, stream=buffers.stream)
        buffers.stream.synchronize()
    failing = np.array(counts[:2]).reshape(2, 1)
    if batch.members > 1:
        failing = launch_counts(ticket).copy_to_host(stream=buffers.stream)
        buffers.stream.synchronize()
    elif plan.algorithm == "exhaustive":
        split = plan.shape.subdomain - plan.shape.piece
        failing[1] = sum(int(n) << split for n in batch.subdomain_counts)
    return_buffers(buffers)
    return *failing, numbers, words
