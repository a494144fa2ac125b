"""Blocks in, cases out: batches of super-blocks, several on their way at once."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator

from hetero import region
from hetero.devices import Device
from hetero.jit import twin
from tmd.decide import Found, by_balls, joined, settle
from tmd.functions import Function
from tmd.plan import Plan, batch

SUBDOMAINS = {"cpu": 1 << 22, "cuda": 1 << 28}
"""Of a batch, about: a batch holds a super-block at least."""

UNDERWAY = {"cpu": 1, "cuda": 3}
"""Batches that are started before the first is waited for."""

AUDITED = {"cpu": 1 << 27, "cuda": 1 << 36}
"""Arguments of a batch where every one is looked at."""


def scan(function: Function, plans: Iterable[Plan], device: Device) -> Iterator[tuple[Plan, Found]]:
    """The cases of each block, in order. Taylor models of later batches are made meanwhile."""
    loops = twin("tmd._scan", device)
    underway = collections.deque()
    parts: list[Found] = []
    with device.active():
        for plan, begin, count in _batches(plans, device):
            if plan.algorithm == "balls":
                while underway:
                    yield from _settled(function, loops, underway.popleft(), parts)
                yield plan, by_balls(function, plan)
                continue
            with region("Taylor models"):
                made = batch(function, plan, begin, count)
            with region("search"):
                ticket = loops.start(made, plan.shape, plan.algorithm, plan.division)
            underway.append((plan, made, ticket))
            while len(underway) >= UNDERWAY[device.kind]:
                yield from _settled(function, loops, underway.popleft(), parts)
        while underway:
            yield from _settled(function, loops, underway.popleft(), parts)


def _batches(plans, device):
    for plan in plans:
        shape = plan.shape
        if plan.algorithm == "exhaustive":
            each = AUDITED[device.kind] >> shape.size
        else:
            each = SUBDOMAINS[device.kind] >> (shape.size - shape.domain)
        each = max(1, each)
        for begin in range(0, plan.supers, each):
            yield plan, begin, min(each, plan.supers - begin)


def _settled(function, loops, item, parts):
    plan, made, ticket = item
    with region("search"):
        result = loops.finish(ticket)
    with region("decision"):
        parts.append(settle(function, plan, made, result))
    if made.first + made.used.size == plan.supers:
        yield plan, joined(parts)
        parts.clear()
