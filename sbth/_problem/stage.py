"""A stage of the way from a matrix to its eigenvalues and eigenvectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sbth._problem.problem import Problem


class Stage(NamedTuple):
    """A step of the way, which takes what the step before leaves.

    Attributes
    ----------
    describe : function
        Says for a problem what the step is; "" if there is nothing to do.
    run : function
        Takes the array module, the problem, and what the step before has left. A reduction returns
        `Reduced`, the others eigenvalues in host memory and eigenvectors (n, m) or None.
    memory : function, optional
        Bytes that it needs for each element of an (n, n) matrix.
    keeps : function, optional
        Bytes, for each element, of what the later steps need of it.
    works_on_full : bool
        Whether it works on a full matrix, whatever the storage.
    """

    describe: Callable[[Problem], str]
    run: Callable[[Any, Problem, Any], Any]
    memory: Callable[[Problem], int] | None = None
    keeps: Callable[[Problem], int] | None = None
    works_on_full: bool = False
