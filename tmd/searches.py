"""The public function that searches for hard-to-round cases."""

from __future__ import annotations

import logging
from contextlib import ExitStack, nullcontext
from fractions import Fraction
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hetero import region, validation
from hetero.devices import resolve
from hetero.display.progress_bar import IGNORE, open_bar
from hetero.distributed.engines import Engine
from hetero.distributed.worker_devices import Devices
from tmd._search.blocks import split_domain
from tmd._search.cases import BlockCases, block_record, hash_plans, make_certificate
from tmd._search.checkpoint import open_checkpoint, read_hash_of_plans
from tmd._search.formulas.boolean_test_formulas import ALGORITHMS, DIVISIONS
from tmd._search.planning import MAX_BITS, Plan, count_arguments, plan_search
from tmd._search.sharing import search_shared
from tmd._search.taylor_models import ROUNDINGS, Scale
from tmd._search.translates import search_in_groups
from tmd.formats import Format, Precision, format_fraction, to_interval
from tmd.functions.function import NAMES, Function, hash_values, load_function
from tmd.results import Cases, Result

if TYPE_CHECKING:
    from concurrent.futures import Executor

LOGGER = logging.getLogger(__name__)

BREAK_EVEN = 1 << 34
"""Number of arguments from which on an H200 is faster than the CPU, without any compilation."""


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
    bar = open_bar(f"{name}: planning", 1.0) if progress else nullcontext()
    with engine.raised_by_all(), region("planning"), bar:
        blocks, trivial = split_domain(f, lo, hi, fmt, bits)
        scale = Scale.for_rounding(rounding)
        method = f, blocks, bits, scale, algorithm, division
        plan = plan_search(*method, engine.is_single)
        known = read_hash_of_plans(checkpoint) if checkpoint is not None else None
        if known not in (None, hash_plans(plan.searched_plans)):
            # Perhaps one device began what several continue, or the other way round.
            other = plan_search(*method, not engine.is_single)
            plan = other if hash_plans(other.searched_plans) == known else plan
        arguments, algorithms = count_arguments(plan.plans), plan.describe_algorithms()
        chosen = resolve(engine.local, work=arguments, break_even=BREAK_EVEN)
    where = "workers" if engine.is_elsewhere else chosen
    LOGGER.info(
        "%s: %d arguments, blocks by algorithm: %s, on %s", name, arguments, algorithms, where
    )
    store, finished = None, dict[int, BlockCases]()
    with chosen.active(), ExitStack() as stack:
        if checkpoint is not None:
            plans = plan.searched_plans
            search = question | _describe_method(f, plans, algorithm, division)
            store = open_checkpoint(checkpoint, search, plans, comm, stack)
            finished |= store.blocks
        if engine.comm is not None:  # the other ranks have new files
            finished = engine.comm.bcast(finished)
        missing = dict(enumerate(plan.searched))
        for number in finished:
            del missing[number]
        if engine.is_single:
            advance = IGNORE
            if progress:
                total = count_arguments(stretch.plan for stretch in missing.values())
                advance = stack.enter_context(open_bar(name, total))
            for number, cases_of_block in search_in_groups(f, missing, chosen, advance):
                finished[number] = cases_of_block
                if store is not None:
                    store.add(number, cases_of_block)
        else:
            finished |= search_shared(f, missing, engine, progress, store)
    pairs = plan.pair_with(finished)
    certificate = make_certificate(question, trivial, [*starmap(block_record, pairs)])
    cases = Cases(name, fmt, pairs)
    return Result(name, (lo, hi), bits, rounding, fmt, cases, sorted(cases.undecided), certificate)


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


def _describe_method(f: Function, plans: list[Plan], algorithm: str, division: str) -> dict:
    """Return what a checkpoint says of a search besides the question."""
    method = {"algorithm": algorithm, "division": division, "plans": hash_plans(plans)}
    if f.name not in NAMES:  # another process may know another function by this name
        runs = [plan.block.run for plan in plans]
        samples = [(run, i) for run in runs for i in (0, run.count // 2, run.count - 1)]
        method["values"] = hash_values(f, (run.argument(i) for run, i in samples))
    return method
