"""Tables and figures of Riesinger (2017), part III: random ordinary differential equations."""

import itertools
from collections.abc import Iterator

from studies.papers.printed import (
    GPUS,
    MEASURED_OCCUPANCIES,
    PART_SHARES,
    PATH_EFFICIENCIES,
    PATH_SECONDS,
    PEAK_SHARES,
    SETUP_MILLISECONDS,
    ZIGGURATS,
)
from studies.papers.result import Cell, Figure, NumberedResult, Source, Value, if_recorded

DOCUMENT = "thesis"
NORMALS = "studies/rode-normals-cuda.json"
PATHS = "studies/rode-paths-cuda.json"
SOLVER = "studies/rode-solver-cuda.json"
CONVERGENCE = "studies/rode-convergence-cuda.json"
EXPECTATION = "studies/rode-expectation-cuda.json"
OCCUPANCY = "studies/rode-occupancy-cuda.json"
SUITE = "rode/rode-cuda.json"
STRIPS = "Ziggurat over the number of strips"
POOLS = "Wallace, float32, over threads and blocks"
SHAPES = "float32 over launch shapes"
MOMENTS = "Expected value and variance"
WALLACE = "normal numbers, wallace, float32, 1,073,741,824"
K40 = "Tesla K40m"

STRIPS_OCCUPANCY = "Occupancy of the Ziggurat"
PARTS = "Launch shapes and occupancies"
STRIPS_ONLY = "studies/rode-ziggurats-cpu.json"
PROFILES = "studies/hetero-profiles-cuda.json"
SCALING = "studies/rode-scaling-cuda.json"
PROFILED_METHODS = (
    "Ziggurat, local memory",
    "Ziggurat, shared memory",
    "rational functions, branches",
    "rational functions, blending",
    "Wallace, shared memory",
)
"""Methods of table 8.3 that we have."""

OUR_SETUPS = {
    "Ziggurat, shared memory": "Ziggurat, 256 strips, ms",
    "Wallace, shared memory": "Wallace, first pool with its numbers, ms",
}
"""Setups of ours that stand beside those of table 8.4."""

SCHEMES = (
    "averaged Euler, float32",
    "averaged Euler, float64",
    "3-RODE-Taylor, float32",
    "3-RODE-Taylor, float64",
)
"""Columns of table 12.4."""

PATHS_OF_LONG_JOBS = "23842"
"""Paths of a device in the longer jobs of the study."""

CLUSTERS = (
    "The record has the times of GPUs of one host; beyond the GPUs of one host it needs a cluster, "
    "on which `comm=` runs."
)


def _rate(what: str, published: float, name: str) -> Value:
    figure = Figure(SUITE, f"normal numbers, {name}, float32, 1,073,741,824")
    return Value(what, published, "G/s", K40, figure)


def _process(dtype: str) -> Cell:
    """Return the rate of a path of 2^26 steps of given noise."""
    return Cell(PATHS, "One Ornstein-Uhlenbeck path", (dtype, str(1 << 26)), "scan, noise read")


def _averages(dtype: str) -> Cell:
    """Return the rate of single averages over 2^12 of 2^28 elements."""
    return Cell(PATHS, "Averages of 268,435,456 elements", (dtype, "4096"), "single, GB/s")


def _pools(threads: str, passes: str, method: str) -> Cell:
    """Return the cell of a rate of Wallace's method by a launch shape of the study."""
    return Cell(NORMALS, POOLS, (threads, passes), f"G/s, {method}")


def _pool(what: str, threads: str, passes: str, method: str = "wallace") -> Value:
    """Return the rate of Wallace's method by a launch shape of the study."""
    cell = _pools(threads, passes, method)
    return Value(f"{what}, {threads} threads, {passes} passes", None, "G/s", "", cell)


def _shape(threads: str, blocks: str) -> Value:
    """Return the rate of rational functions by a launch shape of the study."""
    cell = Cell(NORMALS, SHAPES, (threads, blocks), "G/s, rational-blending")
    what = f"blending, {threads} threads, {blocks} blocks a multiprocessor"
    return Value(what, None, "G/s", "", cell)


def _moments(number: str, place: str, scenario: str, subject: str) -> NumberedResult:
    return NumberedResult(
        *(DOCUMENT, number, place, subject, "rode-expectation"),
        records=(EXPECTATION,),
        values=(
            Value(
                *("mean of the variance, 4096 paths", None, "m^2/s^4", ""),
                Cell(EXPECTATION, MOMENTS, (scenario, "4096"), "mean of V(u'')"),
            ),
        ),
        remark="A picture without printed numbers; exactly, the variance tends to 16.04.",
    )


def _share(scheme: str, dtype: str, part: str, published: float | None) -> Value:
    cell = Cell(SOLVER, "Shares of the blocks", (scheme, dtype, "268435456"), part)
    hardware = "" if published is None else "the largest"
    return Value(f"{part.removesuffix(', %')}, {dtype}", published, "%", hardware, cell)


def _ziggurat_occupancy(capability: str, published: float | None) -> Value:
    hardware = "" if published is None else K40
    cell = Cell(
        OCCUPANCY, STRIPS_OCCUPANCY, (capability, "float32", "shared", "1024"), "64 threads"
    )
    return Value(f"1024 strips, 64 threads, limits of {capability}", published, "", hardware, cell)


def _threads(what: str, published: float, part: str) -> Value:
    cell = Cell(OCCUPANCY, PARTS, (part, "float32"), "threads a block")
    return Value(f"threads a block, {what}, float32", published, "", K40, cell)


def _occupancy(what: str, published: float, part: str, dtype: str) -> Value:
    cell = Cell(OCCUPANCY, PARTS, (part, dtype), "occupancy on 9.0")
    return Value(f"occupancy, {what}, {dtype}", published, "", K40, cell)


def _profile(call: str, dtype: str, column: str) -> Cell:
    """Return a cell of the profiler's values of a call."""
    return Cell(PROFILES, "Kernels by the profiler", (f"{call}, {dtype}",), column)


def _on_this_host(*schemes: str) -> Iterator[Value]:
    """Yield the efficiencies of the longer jobs on GPUs of one host, as far as recorded."""
    for scheme, dtype, count in itertools.product(schemes, ("float32", "float64"), (2, 4, 8)):
        row = (scheme, dtype, PATHS_OF_LONG_JOBS, str(count))
        source = if_recorded(Cell(SCALING, "Weak scaling over devices", row, "efficiency, %"))
        if source:
            yield Value(f"{scheme}, {dtype}, {count} GPUs of one host", None, "%", "", source)


def _part_profile(part: str, dtype: str, column: str) -> tuple[Source, float, str]:
    """Return the cell of a part's value, its factor, and what is other in ours."""
    if part != "process":
        return _profile(part, dtype, column), 1.0, ""
    given = if_recorded(_profile("process of given noise", dtype, column))
    if given is not None:
        return given, 1.0, ""
    return _profile(part, dtype, column), 1.0, "noise drawn in it; theirs is given"


THESIS_RANDOM_EQUATIONS = (
    NumberedResult(
        *(DOCUMENT, "table 8.1", "p. 86", "r and v of Ziggurats", "rode-ziggurats"),
        records=(STRIPS_ONLY,),
        values=tuple(
            Value(
                *(f"{column}, {strips:,} strips", printed, "", ""),
                Cell(STRIPS_ONLY, "Where the tail begins", (str(strips),), column),
            )
            for strips, row in ZIGGURATS.items()
            for column, printed in zip(("r", "v"), row[:2], strict=True)
        ),
        remark="The record has all digits: r differs by at most 2e-15.",
    ),
    NumberedResult(
        *(DOCUMENT, "table 8.2", "p. 88", "likelihood of the fast path and of divergence"),
        "rode-ziggurats",
        records=(STRIPS_ONLY, NORMALS),
        values=tuple(
            Value(
                *(f"{column.removesuffix(', %')}, {strips:,} strips", printed, "%", ""),
                Cell(STRIPS_ONLY, "Fast path", (str(strips),), column),
            )
            for strips, row in ZIGGURATS.items()
            for column, printed in zip(("fast path, %", "diverging warps, %"), row[2:], strict=True)
        ),
        remark="The printed likelihoods are rounded before they are raised to the 32nd power.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 8.4", "p. 92; numbers p. 94"),
        "rate of the Ziggurat over the strips",
        "rode-normals",
        records=(NORMALS,),
        values=(
            Value(
                *("1024 strips in shared memory", 2.17, "G/s", K40),
                Cell(NORMALS, STRIPS, ("1024",), "G/s, float32, shared"),
            ),
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 8.5", "p. 93; numbers p. 121"),
        "occupancy of the Ziggurat over the strips",
        "rode-occupancy",
        records=(OCCUPANCY, PROFILES),
        values=(
            _ziggurat_occupancy("3.5", 0.15),
            _ziggurat_occupancy("9.0", None),
            Value(
                *("1024 strips in shared memory, measured, our launch shape", None, "", ""),
                _profile("Ziggurat, shared memory", "float32", "occupancy"),
            ),
        ),
        remark=(
            "The printed number is that of table 12.2, measured by a profiler, as the curves are. "
            "Ours are computed from registers on an H200 (9.0), shared memory and the sizes of "
            "blocks; the K40m (3.5) would use other registers. Our table has one number a strip."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 8.6", "p. 94; numbers p. 95"),
        "rate of rational functions over launch shapes",
        "rode-normals",
        records=(NORMALS, SUITE),
        values=(
            _rate("blending", 1.70, "rational-blending"),
            _shape("1024", "16"),
            _shape("64", "4"),
        ),
        remark="Of the shapes of the study the fastest and the slowest stand here.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 8.7", "p. 95; numbers p. 96"),
        "rate of Wallace's method over launch shapes",
        "rode-normals",
        records=(NORMALS, SUITE),
        values=(
            _rate("Wallace", 4.18, "wallace"),
            _pool("the fastest shape", "128", "32"),
            _pool("the slowest shape", "1024", "8"),
            _pool("sum of squares not corrected", "128", "32", "wallace-uncorrected"),
            Value(
                *("gain without treatment of the pool's statistics", 2.44, "", K40),
                _pools("128", "32", "wallace-uncorrected"),
                over=_pools("128", "32", "wallace"),
                differs="only the sum of squares is not corrected",
            ),
        ),
        remark=(
            "Their fastest shape on the K40m has 128 threads, too. Our first number is that of the "
            "shape of `rode.normal`: pools of 256 threads and 64 passes. In the study threads and "
            "passes vary, and the passes give the number of blocks: a block has a pool of its own. "
            'The treatment of the pool is always in it; "uncorrected" leaves out that of the sum '
            "of squares alone."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 8.3", "p. 96", "share of the peak rate of float operations"),
        "hetero-profiles",
        records=(PROFILES, NORMALS),
        values=tuple(
            Value(
                *(method, share, "%", gpu),
                _profile(method, "float32", "% of peak, float32")
                if gpu == K40 and method in PROFILED_METHODS
                else None,
                differs="no states of a generator" if "Wallace" in method else "",
            )
            for method, row in PEAK_SHARES.items()
            for gpu, share in zip(GPUS, row, strict=True)
        ),
        remark=(
            "Both by NVIDIA's profiler. Of Wallace's method local and shared say where XORWOW has "
            "its states; pools are in shared memory in all versions, theirs and ours, and Philox "
            "has no states."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 8.4", "p. 97", "setup times", "rode-normals"),
        records=(NORMALS,),
        values=tuple(
            Value(
                *(method, milliseconds, "ms", gpu),
                Cell(NORMALS, "Setup", (OUR_SETUPS[method],), "ms")
                if gpu == K40 and method in OUR_SETUPS
                else None,
            )
            for method, row in SETUP_MILLISECONDS.items()
            for gpu, milliseconds in zip(GPUS, row, strict=True)
        ),
        remark="Theirs set up states of XORWOW, which Philox does not have.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 8.8", "p. 98; numbers p. 94-96"),
        "rates of all methods over launch shapes",
        "rode-normals",
        records=(NORMALS, SUITE),
        values=(
            _rate("Ziggurat", 2.17, "ziggurat"),
            _rate("Wallace", 4.18, "wallace"),
            _rate("rational functions", 1.70, "rational-blending"),
            _pool("Wallace, the fastest shape", "128", "32"),
            Value("MKL's inverse, 20 threads", 1.71, "G/s", "two Xeon E5-2680v2"),
            Value(
                *("Wallace over cuRAND's Box-Muller of XORWOW", 2.55, "", K40),
                Figure(SUITE, WALLACE),
                over=Figure(SUITE, WALLACE, "cuRAND XORWOW"),
            ),
        ),
        remark=(
            "The suite has cuRAND's XORWOW and Philox on our machine beside it. The study varies "
            "the launch shapes of Wallace's method and of all others but the Ziggurat."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 9.5", "p. 107"),
        "rate of the process over elements per thread",
        "rode-paths",
        records=(PATHS, SUITE),
        values=(
            Value(
                *("float32, of given noise, 2^26 steps", 3.20, "G steps/s", K40),
                _process("float32"),
                differs="a call from Python",
            ),
            Value(
                *("float64, of given noise, 2^26 steps", 1.11, "G steps/s", K40),
                _process("float64"),
                differs="a call from Python",
            ),
            Value(
                *("float32, of given noise, 2^30 steps", None, "G steps/s", ""),
                Figure(
                    SUITE,
                    "one Ornstein-Uhlenbeck path, scan, of given noise, float32, "
                    "1,073,741,824 steps",
                ),
            ),
        ),
        remark=(
            "All of theirs are of 2^26 steps, and times of kernels. At this length starting and "
            "ending a call takes most of ours."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 10.2", "p. 112; numbers p. 114"),
        "rate of averages over threads of a block",
        "rode-paths",
        records=(PATHS, SUITE),
        values=(
            Value(
                *("single averages, float32", 37.22, "G elements/s", K40),
                _averages("float32"),
                factor=0.25,
            ),
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 10.3", "p. 113; numbers p. 114"),
        "share of the memory's bandwidth of averages",
        "rode-paths",
        records=(PATHS, SUITE),
        values=(
            *(
                Value(
                    *(f"single averages, {dtype}", share, "% of the data sheet", K40),
                    _averages(dtype),
                    factor=100 / 4800,
                )
                for dtype, share in (("float32", 64.7), ("float64", 72.1))
            ),
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 12.1", "p. 120", "best launch shapes of the parts", "rode-occupancy"),
        records=(OCCUPANCY,),
        values=(
            _threads("Ziggurat", 64, "ziggurat"),
            _threads("process", 1024, "long"),
            _threads("single averages", 256, "single average"),
        ),
        remark=(
            "Ours are the shapes that the kernels are launched with, and the record has the "
            "occupancy of each over 32 to 1024 threads; rates over launch shapes are in figures "
            "8.6, 9.5 and 10.2. `rode.solve` computes all parts in one kernel of 128 threads."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 12.2", "p. 121", "profiler's values of the parts", "hetero-profiles"),
        records=(PROFILES, OCCUPANCY),
        values=(
            _occupancy("Ziggurat", 0.16, "ziggurat", "float32"),
            _occupancy("process (first scan)", 0.5, "long", "float32"),
            _occupancy("process (first scan)", 0.5, "long", "float64"),
            _occupancy("single averages", 1.0, "single average", "float32"),
            _occupancy("averages of the 3-RODE-Taylor scheme", 0.86, "three sums", "float32"),
            _occupancy("averages of the 3-RODE-Taylor scheme", 0.56, "three sums", "float64"),
            *(
                Value(
                    *(f"occupancy, measured, {part}, {dtype}", occupancy, "", K40),
                    *_part_profile(part, dtype, "occupancy"),
                )
                for (part, dtype), occupancy in MEASURED_OCCUPANCIES.items()
            ),
            *(
                Value(
                    *(f"share of the peak rate, {part}, {dtype}", share, "%", K40),
                    *_part_profile(part, dtype, f"% of peak, {dtype}"),
                )
                for (part, dtype), share in PART_SHARES.items()
            ),
        ),
        remark=(
            "Occupancies are computed from registers, shared memory and the sizes of blocks where "
            "it does not say measured; theirs on a K40m, ours on an H200. Our process is a single "
            "pass, theirs three kernels, of which the first stands here."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 12.1", "p. 122; numbers p. 123"),
        "shares of the parts in the time, averaged Euler",
        "rode-solver",
        records=(SOLVER,),
        values=(
            _share("averaged-euler", "float64", "process, %", None),
            _share("averaged-euler", "float64", "averages, %", 28.7),
        ),
        remark=(
            "Published: the largest over sizes and GPUs. Ours for 2^28 fine steps, where launches "
            "do not count, without the coarse steps, of which theirs take 7.6 % at most."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 12.2", "p. 123", "shares of the parts in the time, 3-RODE-Taylor"),
        "rode-solver",
        records=(SOLVER,),
        values=(
            _share("3-rode-taylor", "float32", "normal numbers, %", 77.2),
            _share("3-rode-taylor", "float64", "process, %", 87.0),
        ),
        remark="Published: the largest over sizes and GPUs. Ours for 2^28 fine steps.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 12.3", "p. 124"),
        "efficiency over GPUs, averaged Euler",
        "rode-scaling",
        records=(SCALING,),
        values=tuple(_on_this_host("averaged-euler")),
        remark=CLUSTERS,
    ),
    NumberedResult(
        *(DOCUMENT, "figure 12.4", "p. 125", "efficiency over GPUs, 3-RODE-Taylor", "rode-scaling"),
        records=(SCALING,),
        values=tuple(_on_this_host("3-rode-taylor")),
        remark=CLUSTERS,
    ),
    NumberedResult(
        *(DOCUMENT, "table 12.3", "p. 126", "sizes of the runs on clusters", "rode-scaling"),
        records=(SCALING,),
        values=tuple(
            Value(f"length of a path, {scheme}", seconds, "s", cluster)
            for (scheme, cluster), seconds in PATH_SECONDS.items()
        ),
        remark=(
            "Settings, which the study prints beside its own: the same steps, for 16 s of a path."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 12.4", "p. 127", "efficiencies of the largest runs", "rode-scaling"),
        records=(SCALING,),
        values=tuple(
            Value(setting, efficiency, "%", cluster)
            for cluster, row in PATH_EFFICIENCIES.items()
            for setting, efficiency in zip(SCHEMES, row, strict=True)
        )
        + tuple(_on_this_host("averaged-euler", "3-rode-taylor")),
        remark=CLUSTERS,
    ),
    _moments(
        "figure 12.5", "p. 128", "averaged Euler, h = 2^-10", "E and V of u'', averaged Euler"
    ),
    _moments("figure 12.6", "p. 129", "3-RODE-Taylor, h = 2^-5", "E and V of u'', 3-RODE-Taylor"),
    NumberedResult(
        *(DOCUMENT, "figure 12.7", "p. 130", "expected values of three solvers, one noise"),
        "rode-expectation",
        records=(EXPECTATION, CONVERGENCE),
        values=(
            Value(
                *("distance of averaged Euler at 2^-10 and 3-RODE-Taylor at 2^-5", None, "", ""),
                Cell(
                    EXPECTATION,
                    "Distances",
                    ("averaged Euler, h = 2^-10; 3-RODE-Taylor, h = 2^-5",),
                    "distance",
                ),
            ),
        ),
        remark=(
            "A picture without printed numbers. The distance is that of the lines over their size; "
            "rode-convergence measures how errors of single paths shrink with h."
        ),
    ),
)
