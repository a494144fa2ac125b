"""Experiments of the literature, repeated on this machine: `python -m studies list`.

A study is a module with a function `run(study)`, which prints tables by `Study.table`, draws
pictures by `Study.figure` and returns its numbers. It may use private parts of the packages, and
nothing that a user needs is here: the wheel holds no studies.

The folders are not registered with `hetero.compile_cache`: what Numba compiles here has no
intrinsics and no types of its own, so it is kept on disk by value, as the code of any user is, and
the edit of a study makes no code of a package obsolete.
"""
