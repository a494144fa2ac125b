"""A campaign of odd arguments: public callables are called with one argument at a time replaced.

`tests/test_odd_arguments.py` runs a part of it; `python tools/faults.py` runs all of it.
"""
