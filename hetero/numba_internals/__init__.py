"""The names of Numba that are not public: everything that another release of it may change.

The functions here say what each name is for, and no other folder uses one (those of Numba's CUDA
target are in `hetero.cuda.numba_internals`). `tests/hetero/test_numba_internals.py` calls all of
them; pyproject.toml names the range of versions in which they were tested.
"""
