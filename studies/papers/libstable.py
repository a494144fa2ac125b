"""Tables and figures of Royuela-del-Val et al. (2017): the library libstable."""

from studies.papers.printed import INTERVALS, MEAN_ERRORS, PARALLEL_SHARES
from studies.papers.result import Cell, NumberedResult, Value

DOCUMENT = "libstable"
ACCURACY = "studies/stablegpu-accuracy-cpu.json"


def _errors(number: str, place: str, subject: str, function: str) -> NumberedResult:
    """Return a table of mean relative errors in three intervals."""
    values = tuple(
        Value(
            *(f"alpha {alpha:g}, beta {beta:g}, {interval}", error, "", ""),
            Cell(
                *(ACCURACY, f"{function}: mean", (str(alpha), str(beta), interval)),
                "quadrature",
            ),
        )
        for (alpha, beta), errors in MEAN_ERRORS[function].items()
        for interval, error in zip(INTERVALS, errors, strict=True)
        if error is not None
    )
    return NumberedResult(
        *(DOCUMENT, number, place, subject, "stablegpu-accuracy"),
        records=(ACCURACY,),
        values=values,
        remark="Theirs against the program STABLE, ours against 50-digit values.",
    )


LIBSTABLE = (
    _errors("table 1", "section 4.1", "mean relative errors of the density", "pdf"),
    _errors("table 2", "section 4.1", "mean relative errors of the distribution function", "cdf"),
    NumberedResult(
        *(DOCUMENT, "table 3", "section 4.2"),
        "share of the work that threads divide (Amdahl)",
        "stablegpu-threads",
        values=tuple(
            Value(f"{function}, alpha {alpha}, beta {beta}", share, "", "16 cores, Opteron 8350")
            for (alpha, beta), shares in PARALLEL_SHARES.items()
            for function, share in zip(("pdf", "cdf"), shares, strict=True)
        ),
        remark="Ours is not recorded yet: it needs a machine with many cores for itself.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 3", "section 4.1"),
        "mean errors over x for all alpha and beta",
        "stablegpu-map",
        records=("studies/stablegpu-map-cpu.json",),
        remark="A picture without printed numbers; ours is a map over alpha and x.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 4", "section 4.2"),
        "rates over the tolerance and the threads",
        "stablegpu-threads",
        remark=(
            "A picture without printed numbers. Ours is not recorded yet: it needs a machine with "
            "many cores for itself."
        ),
    ),
)
