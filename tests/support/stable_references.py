"""Densities of stable distributions with 20 digits, and quantiles: facts in `stablegpu/data`."""

import csv
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "stablegpu" / "data"


def read_rows(name):
    """Return the rows of a file with their texts."""
    with (DATA / f"{name}_reference.csv").open() as file:
        return list(csv.DictReader(file))


DENSITIES = [row for row in read_rows("density") if row["digits"] != "0"]
"""alpha, beta, x (S0, exact doubles) and true values; those that underflow are left out."""


def column(name, rows=DENSITIES, missing=np.nan):
    """Return the numbers in a column."""
    return np.array([float(row[name] or missing) for row in rows])
