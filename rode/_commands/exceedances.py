"""`rode solve --peaks --exceed OUTPUT=LEVEL`: probabilities that paths exceed levels."""

from __future__ import annotations

from typing import Any

from hetero import validation
from rode.results import Result


def parse_level(text: str, outputs: tuple[str, ...]) -> tuple[str, float]:
    """Return output and level of an argument OUTPUT=LEVEL; raise ValueError if it is not one."""
    output, equals, number = text.rpartition("=")
    try:
        level = float(number)
    except ValueError:
        equals = ""
    if not equals:
        raise ValueError(f"--exceed must be OUTPUT=LEVEL, such as {outputs[0]}=0.1, got {text!r}")
    validation.check_choice("--exceed", output, outputs)
    return output, validation.check_finite("--exceed", level)


def exceedances_of(result: Result, levels: list[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return the probability of each level with its interval, as values of JSON."""
    rows = []
    for output, level in levels:
        one = result.exceedance(output, level)
        numbers = {name: float(getattr(one, name)[0]) for name in ("probability", "low", "high")}
        row: dict[str, Any] = {"output": output, "level": level, "count": int(one.counts[0])}
        rows.append(row | numbers | {"confidence": one.confidence})
    return rows


def print_exceedances(rows: list[dict[str, Any]]) -> None:
    """Print a table with a line for each level."""
    if not rows:
        return
    print("\nprobability that the largest |output| of a path exceeds a level")
    names = ("level", "paths", "probability", "low", "high")
    print("".join(name.rjust(12) for name in names), " output")
    for row in rows:
        numbers = (row["level"], row["count"], row["probability"], row["low"], row["high"])
        print("".join(f"{value:.4g}".rjust(12) for value in numbers), f" {row['output']}")
    print("\nlow, high: 95 % intervals of Wilson for this many paths")
