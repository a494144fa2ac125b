"""The figure of Singh (2022): errors of forms of log_ndtr."""

from studies.papers.result import Figure, NumberedResult, Value

SPECIAL = "stablegpu/special-cuda.json"
ERRORS = ("studies/stablegpu-special-cpu.json", "studies/stablegpu-special-cuda.json")
RATES = "log_ndtr of 268,435,456 unsorted N(0, 5^2), {}"

LOG_NORMAL = (
    NumberedResult(
        *("log-ndtr", "figure 1", "Numerical Stability of Algorithm"),
        "relative error of the three-branch form",
        "stablegpu-special",
        records=ERRORS,
        remark="A picture without printed numbers; the records have errors in ulp.",
    ),
    NumberedResult(
        *("log-ndtr", "figure 2", "Numerical Stability of Algorithm"),
        "relative error of the stable form",
        "stablegpu-special",
        records=ERRORS,
        remark="A picture without printed numbers.",
    ),
    NumberedResult(
        *("log-ndtr", "table 1", "Performance Benchmarks"),
        "rates of log_ndtr",
        "benchmark special",
        records=(SPECIAL,),
        values=(
            Value(
                *("float32", None, "G/s", "GTX 1650 Ti"),
                Figure(SPECIAL, RATES.format("float32")),
            ),
            Value(
                *("float32 over float64", 1.3, "", "GTX 1650 Ti, nearly"),
                Figure(SPECIAL, RATES.format("float32")),
                over=Figure(SPECIAL, RATES.format("float64")),
            ),
        ),
        remark=(
            "The document numbers neither figures nor tables; the numbers here are in its order. "
            "The table is a picture, and the text has one number, 30 %."
        ),
    ),
)
