"""The functions that can be searched: one small file each, with the facts that proofs rely on.

A file gives the function's values and Taylor coefficients as Arb balls, its domain, the rational
points at which domains are cut, the arguments with exact values, and its behaviour near 0 and at
infinity. To add a function, add a file with a `FUNCTION`, and its name to `NAMES` in
`function.py`.
"""

from tmd.functions.function import NAMES, PROBES, is_known, load_function, load_object, register

__all__ = ["NAMES", "PROBES", "is_known", "load_function", "load_object", "register"]
