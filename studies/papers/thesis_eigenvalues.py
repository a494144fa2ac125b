"""Tables and figures of Riesinger (2017), part II: bands to tridiagonal matrices."""

from studies.papers.printed import BANDWIDTHS, BLAS_CALLS, REDUCTION_SECONDS
from studies.papers.result import Cell, Figure, NumberedResult, Value

DOCUMENT = "thesis"
OPERATIONS = "studies/sbth-operations-cuda.json"
PIPELINE = "studies/sbth-pipeline-cuda.json"
COUNTS = "studies/sbth-counts-cpu.json"
SUITE = "sbth/sbth-cuda.json"

CURVES = (
    "Curves for five GPUs; of their numbers the text prints two. Ours is one kernel. For "
    "comparison the study launches every BLAS operation from the host, too: our kernels or "
    "cuBLAS, by prepared launches in both orders, and as CUDA graphs. Of most of them a sample "
    "of the steps is executed. It times our kernels on row-major storage, too (section 5.1), which "
    "cuBLAS cannot take here: no two elements of a block lie beside each other."
)


LIKE_OURS = "ELPA, two steps, 256 Power6 cores"
OUR_REDUCTION = Figure(SUITE, "band to tridiagonal, n = 79872, bandwidth 576")


def _share(number: str, place: str, subject: str) -> NumberedResult:
    return NumberedResult(
        *(DOCUMENT, number, place, subject, "sbth-pipeline"), records=(PIPELINE,), remark=CURVES
    )


WAYS = {
    "cuBLAS, breadth first": "vendor's BLAS, breadth first",
    "cuBLAS, depth first": "vendor's BLAS, depth first",
    "cuBLAS, graphs": "vendor's BLAS, graphs",
    "our kernels, graphs": "our kernels, graphs",
    "our kernels, row-major, graphs": "our kernels, row-major, graphs",
}
"""Ways of the pipeline to launch every operation, and their names in the record."""


def _ways(n: str, d: str) -> tuple[Value, ...]:
    """Return the speed-ups of the pipelines that launch every operation."""
    return tuple(
        Value(
            *(f"{way}, n = {n}, d = {d}", None, ""),
            ours=Cell(PIPELINE, "Pipeline", (n, d, name), "best speed-up"),
        )
        for way, name in WAYS.items()
    )


def _blocks(number: str, place: str, subject: str) -> NumberedResult:
    return NumberedResult(
        *(DOCUMENT, number, place, subject, "sbth-blocks"),
        records=("studies/sbth-blocks-cpu.json",),
        remark="A drawing: the study draws it, and its record lists the pairs of every step.",
    )


THESIS_EIGENVALUES = (
    NumberedResult(
        *(DOCUMENT, "figure 6.1", "p. 51"),
        "shares of the BLAS routines in the time",
        "sbth-operations",
        records=(OPERATIONS,),
        values=(
            *(
                Value(
                    *(f"{which} share of NRM2, cuBLAS, n = 5000, d = {d}", share, "%", gpu),
                    Cell(
                        *(
                            OPERATIONS,
                            "Shares of the operations in their total time, %, n = 5000, v",
                        ),
                        *(("nrm2",), f"d = {d}"),
                    ),
                )
                for which, d, share, gpu in (
                    ("largest", 16, 68.6, "GTX 750 Ti"),
                    ("least", 128, 41.6, "Tesla K20x"),
                )
            ),
        ),
        remark=(
            "Our operations are pieces of one kernel, and vector operations share its loops, so "
            "shares of single routines do not correspond. cuBLAS has kernels of its own for "
            "them."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 6.2", "p. 52", "calls of BLAS routines", "sbth-operations"),
        records=(OPERATIONS, COUNTS),
        values=tuple(
            Value(
                *(f"{routine.upper()}, n = {n}, d = {d}", calls, "", ""),
                Cell(OPERATIONS, f"Calls, n = {n}", (routine,), f"d = {d}"),
            )
            for n, routines in BLAS_CALLS.items()
            for routine, row in routines.items()
            for d, calls in zip(BANDWIDTHS, row, strict=True)
        ),
        remark=(
            "Theirs are kernels, of which some routines have two; ours are operations of algorithm "
            "1, with one SYR2 for each block pair. For n = 5000 the table has fewer than that."
        ),
    ),
    _share("figure 6.2", "p. 54", "times over the length of the pipeline, n = 1000"),
    _share("figure 6.3", "p. 55", "times over the length of the pipeline, n = 5000"),
    NumberedResult(
        *(DOCUMENT, "figure 6.4", "p. 56; numbers p. 57"),
        "speed-ups of the pipeline, n = 1000",
        "sbth-pipeline",
        records=(PIPELINE,),
        values=(
            Value(
                *("best, n = 1000, d = 32", 3.70, "", "Tesla K20x"),
                Cell(PIPELINE, "Pipeline", ("1000", "32", "fused"), "best speed-up"),
            ),
            *_ways("1000", "32"),
        ),
        remark=CURVES,
    ),
    NumberedResult(
        *(DOCUMENT, "figure 6.5", "p. 57", "speed-ups of the pipeline, n = 5000", "sbth-pipeline"),
        records=(PIPELINE,),
        values=(
            Value(
                *("best with MAGMA, n = 5000, d = 16", 2.41, "", "GTX 750 Ti"),
                Cell(PIPELINE, "Pipeline", ("5000", "16", "fused"), "best speed-up"),
            ),
            *_ways("5000", "16"),
        ),
        remark=CURVES,
    ),
    NumberedResult(
        *(DOCUMENT, "table 6.3", "p. 59", "times for n = 79,872, d = 576", "sbth-comparison"),
        records=("studies/sbth-comparison-cuda.json", SUITE, COUNTS),
        values=tuple(
            Value(
                *(software.removeprefix("Riesinger 2017, "), seconds, "s", ""),
                OUR_REDUCTION if software == LIKE_OURS else None,
            )
            for software, seconds in REDUCTION_SECONDS.items()
        ),
        remark=(
            "Ours takes two steps, so it stands beside ELPA's fastest run in two. The printed "
            "times of GPUs, in one step, are shorter than one step of the algorithm takes at their "
            "peak rates; the page on the accuracy of sbth counts."
        ),
    ),
    _blocks("figure 4.2", "p. 36", "blocks of n = 24, d = 5, steps 0 and 1"),
    _blocks("figure 4.3", "p. 37", "blocks of n = 24, d = 5, steps 2 to 5"),
    _blocks("figure 4.4", "p. 38", "blocks of n = 24, d = 5, steps 25 and 41 to 43"),
)
