"""Searches that devices, workers or ranks share: tasks of parts of blocks, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hetero.devices import Device
from hetero.distributed.engines import Engine
from tmd._search import batch_size, search_stretches
from tmd._search.cases import BlockCases, join_batches
from tmd._search.checkpoint import BlockStore, Checkpoint
from tmd._search.planning import Plan, Stretch
from tmd.functions.function import Function, load_function

BLOCKS_PER_TASK = {"cpu": 1, "cuda": 8}
"""Most blocks that a rank searches between two results, by kind of device: the largest block takes
a core of a CPU many minutes, which are lost if the rank dies, and an H200 0.05 s. There are fewer
if otherwise not every rank would get some."""

THREADS_PER_DEVICE = {"cpu": 1, "cuda": 2}
"""Tasks that a device searches side by side: on a GPU one begins while another's last batches end.
"""

PARTS_OF_BATCH = 4
"""Parts of a batch by which tasks are counted: devices end together if the last ones are short."""

PARTS_PER_TASK = 1, 64
"""Fewest and most of these parts that a worker searches between two results (not tuned).

The most are lost if a worker dies: 0.8 s of an H200, and many minutes of a core of a CPU."""


def search_shared(
    f: Function,
    missing: dict[int, Stretch],
    engine: Engine,
    show_progress: bool,
    store: Checkpoint | None,
) -> dict[int, BlockCases]:
    """Return the cases of the missing blocks of a search, by tasks that an engine runs."""
    kind = engine.devices[0].kind if engine.devices else engine.kind or "cuda"
    if engine.comm is not None:  # each rank stores the blocks that it searches itself
        numbers = list(missing)
        size = max(1, min(BLOCKS_PER_TASK[kind], len(numbers) // engine.count_parts()))
        groups = [numbers[begin : begin + size] for begin in range(0, len(numbers), size)]
        tasks = [[(i, missing[i]) for i in group] for group in groups]
    else:
        plans = {i: stretch.plan for i, stretch in missing.items()}
        tasks = share_out(plans, kind, len(engine.devices) or engine.count_parts() // 4)
        engine = replace(engine, devices=engine.devices * THREADS_PER_DEVICE[kind])
    results = engine.run(
        search_task,
        [(f.name, [stretch for _, stretch in task]) for task in tasks],
        checkpoint=None if store is None else BlockStore(store, tasks),
        title=f.name,
        show_progress=show_progress,
    )
    parts: dict[int, list[BlockCases]] = {i: [] for i in missing}
    for task, cases_of_stretches in zip(tasks, results, strict=True):
        for (i, _), cases in zip(task, cases_of_stretches, strict=True):
            parts[i].append(cases)
    finished = {i: join_batches(parts[i]) for i in missing}
    with engine.raised_by_all():
        if store is not None and engine.comm is not None and engine.is_root:
            store.take_in_ranks()
            for number in missing:  # of ranks that do not see this folder
                if number not in store.blocks:
                    store.add(number, finished[number])
    return finished


def search_task(task: tuple[str, list[Stretch]], device: Device) -> list[BlockCases]:
    """Search stretches of blocks of a function, which is given by its name, on a device."""
    name, stretches = task
    with device.active():
        return list(search_stretches(load_function(name), stretches, device))


def share_out(
    plans: Mapping[int, Plan], kind: str, workers: int
) -> list[list[tuple[int, Stretch]]]:
    """Return tasks for workers that take one after the other: stretches, with their blocks' keys.

    The work of a task is a share of what remains, so that all workers end at nearly the same time
    whatever a block has cost.
    """
    sizes = {n: max(1, batch_size(plan, kind) // PARTS_OF_BATCH) for n, plan in plans.items()}
    left = sum(-(-plan.super_blocks // sizes[number]) for number, plan in plans.items())
    tasks: list[list[tuple[int, Stretch]]] = []
    fewest, most = PARTS_PER_TASK
    room = 0
    for number, plan in plans.items():
        begin, end = 0, plan.super_blocks
        while begin < end:
            if room < 1:
                room = max(fewest, min(most, left // (2 * workers)))
                tasks.append([])
            parts = min(room, -(-(end - begin) // sizes[number]))
            count = min(parts * sizes[number], end - begin)
            tasks[-1].append((number, Stretch(plan, begin, count)))
            begin, room, left = begin + count, room - parts, left - parts
    return tasks
