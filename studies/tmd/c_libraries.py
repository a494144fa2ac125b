"""How often C functions of float are not correctly rounded, in the C libraries of this machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from studies.study import Study
from studies.tmd.exhaustive import HEADS, PART, names_of, try_on_cpu

LIBRARIES = ("libm.so.6", "ld-musl-x86_64.so.1", "libopenlibm.so.4")
"""Those of glibc, musl and OpenLibm; the loader must find them (LD_LIBRARY_PATH)."""


def try_libraries(study: Study) -> Iterator[tuple]:
    """Try all functions that a library exports, of the libraries that can be loaded."""
    for library, name in itertools.product(LIBRARIES, names_of(study)):
        try:
            row = try_on_cpu(study, f"{name}f of {library}", name, library)
        except ValueError as error:
            if "cannot be loaded" in str(error) or "exports no function" in str(error):
                continue
            raise
        yield row


def run(study: Study) -> dict:
    """Count wrong results to nearest."""
    rows = study.table(f"C functions of float, {PART}", HEADS, try_libraries(study))
    return {"c": rows}
