"""The public function that searches for hard-to-round cases."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hetero import validation
from hetero.data_files.atomic_files import lock_file
from hetero.devices import Device, resolve
from hetero.display.progress_bar import open_bar
from hetero.distributed.engines import Engine
from hetero.distributed.parts import raised_by_all
from hetero.distributed.worker_devices import Devices
from tmd._certificates import records
from tmd._search.batches import (
    Stretch,
    search_blocks,
    search_stretches,
    share_out,
)
from tmd._search.blocks import split_domain
from tmd._search.checkpoint import BlockStore, Checkpoint, path_of_rank
from tmd._search.decisions import BlockCases, join_batches
from tmd._search.formulas.boolean_test_formulas import ALGORITHMS, DIVISIONS
from tmd._search.planning import MAX_BITS, Plan, count_arguments, find_mirror_images, make_plans
from tmd._search.taylor_models import ROUNDINGS, Scale
from tmd.errors import CheckpointError
from tmd.formats import Format, Precision, format_fraction, to_interval
from tmd.functions import NAMES, load_function
from tmd.functions.function import Function, hash_values
from tmd.results import Cases, Result

if TYPE_CHECKING:
    from concurrent.futures import Executor

LOGGER = logging.getLogger(__name__)

BREAK_EVEN = 1 << 34
"""Number of arguments from which on an H200 is faster than the CPU, without any compilation."""

BLOCKS_PER_TASK = {"cpu": 1, "cuda": 8}
"""Most blocks that a rank searches between two results, by kind of device: the largest block takes
a core of a CPU many minutes, which are lost if the rank dies, and an H200 0.05 s. There are fewer
if otherwise not every rank would get some."""

THREADS_PER_DEVICE = {"cpu": 1, "cuda": 2}
"""Tasks that a device searches side by side: on a GPU one begins while another's last batches end.
"""


def search(
    name: str | Function,
    domain: tuple,
    *,
    bits: int = 32,
    precision: Precision = 53,
    argument_precision: Precision | None = None,
    rounding: str = "all",
    algorithm: str = "auto",
    division: str = "reciprocal",
    executor: Executor | None = None,
    comm: Any = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    device: Devices = None,
) -> Result:
    """Find all arguments whose values lie closer than 2^-bits ulp to a rounding breakpoint.

    Parameters
    ----------
    name : str or Function
        A function in `tmd.functions.NAMES`: the univariate functions of C23. Or one of your own:
        a `tmd.Function`, or "module:NAME" of one, which workers of executors can find, too.
    domain : (lo, hi)
        The half-open interval lo <= x < hi. It is cut at zeros and poles of the function, and
        arguments without a value or with a trivial rounding, such as those close to 0, are left
        out, and so is 0 itself. Odd and even functions are searched once where the domain is
        symmetric. Its ends are numbers, Fractions, Decimals, or text such as "0x1.8p+3" and
        "2**-20"; they are used exactly, without rounding.
    bits : int
        The distance 2^-bits is in ulps of the value.
    precision : int, str or (digits, emin, emax)
        Format of the values: "bfloat16", "binary16", "binary32", "binary64", "x87", or digits with
        the smallest and the largest exponent e of normal numbers, 2^e <= |y| < 2^(e+1). A number
        of binary digits alone stands for binary64 (53), binary32 (24), or, from 2 to 64, for an
        unlimited exponent.
    argument_precision : int, str or (digits, emin, emax), optional
        Format of the arguments; by default `precision`. They are all of its numbers, including
        subnormal ones.
    rounding : {"all", "nearest", "directed"}
        The breakpoints: floating-point numbers and midpoints, midpoints alone, or floating-point
        numbers alone.
    algorithm : {"auto", "clipped", "regular", "alternating", "lefevre", "swap", "exhaustive"}
        The Boolean test: "lefevre", "alternating", "swap" and "regular" are Algorithms 1 to 4 of
        (Fortin, Gouicem and Graillat 2016), "clipped" is Algorithm 4 with its last quotient cut;
        "exhaustive" computes every value by differences instead. All find the same cases.
    division : {"reciprocal", "float64", "integer", "hybrid", "subtractive"}
        How the test computes its quotients.
    executor : concurrent.futures.Executor, optional
        Searches groups of blocks in parallel: in processes, by `mpi4py.futures.MPIPoolExecutor`, or
        by Dask's `Client(...).get_executor()`. Processes must be started with
        `mp_context=multiprocessing.get_context("spawn")`, because GNU OpenMP terminates forked
        ones. Each worker takes a GPU of its own if there is one.
    comm : communicator of mpi4py, optional
        All its ranks call `search` alike, share the blocks, and get the same result.
    progress : bool
        Whether to show a progress bar on the terminal.
    checkpoint : path, optional
        File that stores the finished blocks. If it exists, the search continues from there. With
        `comm` each rank stores its blocks in a file beside it, whose name ends with ".rank1" and so
        on; so all ranks must see the folder. At the end, and when a search continues, with any
        number of ranks, rank 0 takes these files in and removes them.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        Several, such as ["cuda:0", "cuda:1"] or "cuda:all", search side by side. With an executor
        or `comm`, "cpu" or "cuda": what each worker takes.

    Returns
    -------
    Result
        `cases` (with `argument`, `kind`, `distance`, `identical_bits`), `hardness`, `undecided`,
        and a `certificate` for `tmd.verify`.

    Raises
    ------
    ValueError
        A name or an option is unknown; the domain is empty or reversed; the function is defined
        nowhere in it, is trivial everywhere because it is close to 0, or has too many zeros and
        poles; the exponent is unlimited and the domain contains 0; there would be too many cases;
        or the arguments are too far apart for local polynomials.
    CheckpointError
        The checkpoint is damaged, belongs to another search, algorithm or division, or is in use by
        another process. The file is left unchanged.
    hetero.DeviceUnavailableError

    Notes
    -----
    The result is complete and correct: every error is bounded (docs/packages/tmd.md), the search
    retains candidates up to twice the distance, and each is decided by its error bound or by Arb's
    balls.
    """
    f, lo, hi, fmt, question = _validate_question(
        name, domain, bits, precision, argument_precision, rounding
    )
    name, bits = f.name, question["bits"]
    validation.check_choice("algorithm", algorithm, ("auto", *ALGORITHMS, "exhaustive"))
    validation.check_choice("division", division, tuple(DIVISIONS))
    engine = Engine.create(device, executor, comm)
    if checkpoint is not None:
        checkpoint = validation.check_path("checkpoint", checkpoint)
    with engine.raised_by_all(), open_bar(f"{name}: planning", 1.0, enabled=progress):
        blocks, trivial = split_domain(f, lo, hi, fmt, bits)
        plans = make_plans(f, blocks, bits, Scale.for_rounding(rounding), algorithm, division)
        images = find_mirror_images(f, plans)
        arguments = count_arguments(plans)
        chosen = resolve(engine.local, work=arguments, break_even=BREAK_EVEN)
    algorithms = Counter(plan.algorithm for plan in plans)
    LOGGER.info(
        "%s: %d arguments, blocks by algorithm: %s, on %s",
        *(name, arguments, ", ".join(f"{count} {a}" for a, count in algorithms.items())),
        "workers" if engine.is_elsewhere else chosen,
    )
    numbers = [i for i in range(len(plans)) if i not in images]
    searched = [plans[i] for i in numbers]
    with contextlib.ExitStack() as stack:
        store = None
        if checkpoint is not None:
            plans_hash = records.hash_plans(searched)
            method = {"algorithm": algorithm, "division": division, "plans": plans_hash}
            if name not in NAMES:  # another process may know another function by this name
                runs = [plan.block.run for plan in searched]
                samples = [(run, i) for run in runs for i in (0, run.count // 2, run.count - 1)]
                method["values"] = hash_values(f, (run.argument(i) for run, i in samples))
            store = _open_checkpoint(checkpoint, question | method, searched, comm, stack)
        if engine.is_single:
            block_cases = _search_here(f, searched, progress, store, chosen)
        else:
            block_cases = _search_elsewhere(f, searched, engine, progress, store)
    cases_of = dict(zip(numbers, block_cases, strict=True))
    pairs = [(plan, cases_of[images.get(i, i)]) for i, plan in enumerate(plans)]
    undecided = [p.block.run.argument(i) for p, cases in pairs for i in cases.undecided]
    block_records = [records.block_record(*pair) for pair in pairs]
    certificate = records.make_certificate(question, trivial, block_records)
    return Result(
        name,
        (lo, hi),
        bits,
        rounding,
        fmt,
        Cases(name, fmt, pairs),
        sorted(undecided),
        certificate,
    )


def _validate_question(
    name: str | Function,
    domain: Any,
    bits: int,
    precision: Precision,
    argument_precision: Precision | None,
    rounding: str,
) -> tuple[Function, Fraction, Fraction, Format, dict]:
    """Return the function, the ends of the domain, the format, and the certificate's first keys."""
    validation.check_choice("rounding", rounding, ROUNDINGS)
    bits = validation.check_integer("bits", bits, 4, MAX_BITS)
    f, fmt = load_function(name), Format.create(precision, argument_precision)
    lo, hi = to_interval("domain", domain)
    question = {
        "function": f.name,
        "domain": [format_fraction(lo), format_fraction(hi)],
        "bits": bits,
        "precision": fmt.names[0],
        "argument_precision": fmt.names[1],
        "rounding": rounding,
    }
    return f, lo, hi, fmt, question


def _open_checkpoint(
    path: str | Path, search: dict, plans: list[Plan], comm: Any, stack: contextlib.ExitStack
) -> Checkpoint:
    """Open a checkpoint with the blocks that ranks have left; of ranks each gets a file to write.

    No other process may search with it until the stack is closed. An error of rank 0 is raised by
    all.
    """

    def open_first() -> Checkpoint:
        """Open the file of rank 0, or of the only process."""
        if not stack.enter_context(lock_file(Path(path))):
            raise CheckpointError(
                f"{path} belongs to a search that another process runs now: wait for its end, or "
                "use another file. Commands `tmd campaign` may share a folder"
            )
        store = Checkpoint(path, search, plans)
        store.take_in_ranks()
        return store

    if comm is None:
        return open_first()
    error: Exception | None = None
    if comm.Get_rank() == 0:
        try:
            store = open_first()
        except (CheckpointError, OSError) as caught:
            error = caught
    error = comm.bcast(error)
    if error is not None:
        raise error
    with raised_by_all(comm):
        if comm.Get_rank() > 0:
            store = Checkpoint(path_of_rank(path, comm.Get_rank()), search, plans)
    return store


def _search_here(
    f: Function, plans: list[Plan], show_progress: bool, store: Checkpoint | None, device: Device
) -> list[BlockCases]:
    """Return the cases of each block, from the checkpoint or by a search on one device."""
    finished = {} if store is None else dict(store.blocks)
    missing = {i: plan for i, plan in enumerate(plans) if i not in finished}
    total = count_arguments(missing.values())
    with open_bar(f.name, total, enabled=show_progress) as advance:
        searched = search_blocks(f, missing.values(), device, advance)
        for number, (_, cases) in zip(missing, searched):  # noqa: B905
            finished[number] = cases
            if store is not None:
                store.add(number, cases)
    return [finished[i] for i in range(len(plans))]


def _search_elsewhere(
    f: Function, plans: list[Plan], engine: Engine, show_progress: bool, store: Checkpoint | None
) -> list[BlockCases]:
    """Return the cases of each block, from the checkpoint or by tasks that an engine runs."""
    finished = {} if store is None else dict(store.blocks)
    if engine.comm is not None:  # the other ranks have new files
        finished = engine.comm.bcast(finished)
    missing = {i: plan for i, plan in enumerate(plans) if i not in finished}
    kind = engine.devices[0].kind if engine.devices else engine.kind or "cuda"
    if engine.comm is not None:  # each rank stores the blocks that it searches itself
        numbers = list(missing)
        size = max(1, min(BLOCKS_PER_TASK[kind], len(numbers) // engine.count_parts()))
        groups = [numbers[begin : begin + size] for begin in range(0, len(numbers), size)]
        tasks = [[(i, Stretch.whole(missing[i])) for i in group] for group in groups]
    else:
        tasks = share_out(missing, kind, len(engine.devices) or engine.count_parts() // 4)
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
    finished |= {i: join_batches(parts[i]) for i in missing}
    with engine.raised_by_all():
        if store is not None and engine.comm is not None and engine.is_root:
            store.take_in_ranks()
            for number in missing:  # of ranks that do not see this folder
                if number not in store.blocks:
                    store.add(number, finished[number])
    return [finished[i] for i in range(len(plans))]


def search_task(task: tuple[str, list[Stretch]], device: Device) -> list[BlockCases]:
    """Search stretches of blocks of a function, which is given by its name, on a device."""
    name, stretches = task
    return list(search_stretches(load_function(name), stretches, device))
