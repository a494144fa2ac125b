"""Tables and figures of Julián-Moreno et al. (2016): densities, quantiles and fits on GPUs."""

from studies.papers.result import Cell, Figure, NumberedResult, Value

DOCUMENT = "gpu-stable"
STABLE = "stablegpu/stable-cuda.json"
FIT = "studies/stablegpu-fit-cuda.json"
RATES = "studies/stablegpu-rate-cuda.json"
FITS = "Fit of 1000 observations, ms"
ERRORS = "Errors of ML fits"
RULE = "studies/stablegpu-published-cpu.json"
K40 = "Tesla K40"

ONE_CALL = (
    "Theirs is kernel time at 1000 points a call. Ours is one call from Python for a new "
    "distribution, planning included; its GPU is busy for a fiftieth of it, so large calls reach "
    "84,000 million points a second."
)
ACCURACY = (
    "Theirs are medians of differences from libstable. Ours are errors against 50-digit values; "
    "the record has every row."
)


AS_PUBLISHED = (
    "`studies run stablegpu-published` has the rule as published, which we do not use: equal "
    "subintervals without a search, evaluated again where few contribute; its order and thresholds "
    "are not printed, here 63 points. For alpha = 0.25 it has the printed errors, with 4 "
    "subintervals a thread; for alpha > 1 its medians are smaller than the printed ones."
)


def _accuracy(number: str, place: str, subject: str, value: Value, *rule: Value) -> NumberedResult:
    """Return a table of errors; `rule` are values of the rule as published, if it is recorded."""
    return NumberedResult(
        *(DOCUMENT, number, place, subject, "stablegpu-accuracy"),
        records=("studies/stablegpu-accuracy-cpu.json", *((RULE,) if rule else ())),
        values=(value, *rule),
        remark=f"{ACCURACY} {AS_PUBLISHED}" if rule else ACCURACY,
    )


def _rule(name: str, alpha: str, beta: str, published: float) -> Value:
    cell = Cell(RULE, f"The published rule, {name}, x in", (alpha, beta), "4 a thread, median")
    what = f"rule as published, 4 subintervals a thread, alpha {alpha}, beta {beta}"
    return Value(what, published, "", "", cell)


def _rate(number: str, place: str, subject: str, published: float) -> NumberedResult:
    """Return a table of rates at 1000 points, of which all have the same columns."""
    return NumberedResult(
        *(DOCUMENT, number, place, subject, "stablegpu-rate"),
        records=(STABLE,),
        values=(
            Value(
                *("1000 points in a call", published, "ms", K40),
                Figure(
                    STABLE,
                    "pdf and cdf of 1000 points of a new distribution, alpha 1.5, beta 0.5",
                ),
            ),
        ),
        remark=ONE_CALL,
    )


def _time(what: str, published: float, hardware: str, method: str, column: str) -> Value:
    return Value(what, published, "ms", hardware, Cell(FIT, FITS, (method,), column))


def _curve(number: str, place: str, subject: str) -> NumberedResult:
    return NumberedResult(
        *(DOCUMENT, number, place, subject, "stablegpu-rate"),
        records=(RATES,),
        remark="A curve without printed numbers; ours is in the record, for three evaluators.",
    )


STABLE_ON_GPUS = (
    _accuracy(
        "table 2",
        "section 4.2",
        "errors of the density, x in (-100, 100)",
        Value(
            *("largest median relative error", 1.05e-10, "", ""),
            Cell(
                "studies/stablegpu-accuracy-cpu.json",
                "pdf, x in (-100, 100)",
                ("0.25", "0.5"),
                "quadrature",
            ),
        ),
        _rule("pdf", "0.25", "0.0", 8.64e-11),
        _rule("pdf", "0.25", "0.5", 1.05e-10),
    ),
    _rate("table 3", "section 4.2", "rates of the density, 1000 points", 3.0),
    _accuracy(
        "table 4",
        "section 4.3",
        "errors of the distribution function, x in (-100, 100)",
        Value(
            *("median relative error, alpha 1.5, beta 0.5", 1.64e-15, "", ""),
            Cell(
                "studies/stablegpu-accuracy-cpu.json",
                "cdf, x in (-100, 100)",
                ("1.5", "0.5"),
                "quadrature",
            ),
        ),
        _rule("cdf", "0.25", "0.5", 4.47e-11),
    ),
    _rate("table 5", "section 4.3", "rates of the distribution function, 1000 points", 2.9),
    _rate("table 6", "section 4.4", "rates of both functions together, 1000 points", 3.0),
    _accuracy(
        "table 7",
        "section 4.5",
        "errors of quantiles, q in (0.1, 0.9)",
        Value(
            *("median relative error, alpha 1.5, beta 0.5", 1.09e-7, "", ""),
            Cell(
                "studies/stablegpu-accuracy-cpu.json",
                "ppf(cdf(x))",
                ("1.5", "0.5"),
                "quadrature",
            ),
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 8", "section 4.5", "rates of quantiles, 1000 points", "stablegpu-rate"),
        records=(STABLE,),
        values=(
            Value(
                *("quantiles a second", 104_166.67, "1/s", K40),
                Figure(STABLE, "200,000,000 quantiles, alpha 1.5, beta 0.5"),
                factor=1e6,
            ),
        ),
        remark="Theirs at 1000 quantiles a call to 1e-4, ours at 200 million to 1e-12.",
    ),
    NumberedResult(
        *(DOCUMENT, "table 9", "section 4.6"),
        "times of maximum-likelihood fits of 1000 observations",
        "stablegpu-fit",
        records=(FIT, "stablegpu/fit-cuda.json"),
        values=(
            _time("mean, maximum likelihood", 11291.476, "Xeon E5-2630 v2", "ml", "mean"),
            _time("mean, contracting grid", 20.07744, K40, "grid", "mean"),
            _time("95th percentile, contracting grid", 27.97425, K40, "grid", "95th percentile"),
        ),
        remark=(
            "Theirs by maximum likelihood is libstable's; ours is Newton's method. "
            "The grid in two dimensions is in the record, which was made beside other work."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 10", "section 4.7", "memory bandwidths that the density's kernel uses"),
        "benchmark stable",
        records=(STABLE,),
        remark=(
            "The record has the share of the machine's arithmetic limit instead: both kernels are "
            "bound by arithmetic. A profiler's shares are not recorded."
        ),
    ),
    _curve("figure 7", "section 4.2", "rates of the density over the points of a call"),
    _curve("figure 8", "section 4.2", "rates of the density over alpha and beta, 500 points"),
    _curve(
        "figure 9", "section 4.3", "rates of the distribution function over the points of a call"
    ),
    _curve("figure 10", "section 4.3", "rates of the distribution function over alpha and beta"),
    _curve("figure 11", "section 4.4", "rates of both functions over the points of a call"),
    _curve("figure 12", "section 4.5", "rates of quantiles over the points of a call"),
    NumberedResult(
        *(DOCUMENT, "figure 13", "section 4.6"),
        "bias of fits over alpha and beta",
        "stablegpu-fit",
        records=(FIT,),
        remark="A picture without printed numbers, over as many distributions as theirs, 17,400.",
    ),
    NumberedResult(
        *(DOCUMENT, "figure 14", "section 4.6"),
        "distribution of the errors of fits",
        "stablegpu-fit",
        records=(FIT,),
        values=(
            Value("median error of alpha", None, "", "", Cell(FIT, ERRORS, ("alpha",), "50 %")),
            Value("median error of beta", None, "", "", Cell(FIT, ERRORS, ("beta",), "50 %")),
        ),
        remark="A picture without printed numbers.",
    ),
)
