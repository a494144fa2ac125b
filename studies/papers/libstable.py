"""Tables and figures of Royuela-del-Val et al. (2017): the library libstable."""

from studies.papers.result import Cell, NumberedResult, Value

DOCUMENT = "libstable"
ACCURACY = "studies/stablegpu-accuracy-cpu.json"

LIBSTABLE = (
    NumberedResult(
        *(DOCUMENT, "table 1", "section 4.1"),
        "errors of the density in three intervals",
        "stablegpu-accuracy",
        records=(ACCURACY,),
        values=(
            Value(
                *("mean relative error, alpha 1.5, beta 0.5, [-10, 10)", 1.3e-15, "", ""),
                Cell(ACCURACY, "pdf: mean", ("1.5", "0.5", "[-10, 10]"), "quadrature"),
            ),
        ),
        remark="Theirs against the program STABLE, ours against 50-digit values.",
    ),
    NumberedResult(
        *(DOCUMENT, "table 2", "section 4.1"),
        "errors of the distribution function in three intervals",
        "stablegpu-accuracy",
        records=(ACCURACY,),
        values=(
            Value(
                *("mean relative error, alpha 1.5, beta 0.5, [-10, 10)", 2.7e-15, "", ""),
                Cell(ACCURACY, "cdf: mean", ("1.5", "0.5", "[-10, 10]"), "quadrature"),
            ),
        ),
        remark="Theirs against the program STABLE, ours against 50-digit values.",
    ),
    NumberedResult(
        *(DOCUMENT, "table 3", "section 4.2"),
        "share of the work that threads divide (Amdahl)",
        "stablegpu-rate",
        remark="Published: 0.94 to 0.98 over 16 cores. Ours is not recorded yet.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 3", "section 4.1"),
        "mean errors over x for all alpha and beta",
        "stablegpu-map",
        records=("studies/map-cpu.json",),
        remark="A picture without printed numbers; ours is a map over alpha and x.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 4", "section 4.2"),
        "rates over the tolerance and the threads",
        "stablegpu-rate",
        remark="A picture without printed numbers. Ours is not recorded yet.",
    ),
)
