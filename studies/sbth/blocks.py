"""Blocks that the pipelined reduction processes in each step (Riesinger 2017, figures 4.2 to 4.4).

Block pair beta of iteration nu belongs to step 2 (nu - 1) + beta, and pair 0 is the column that the
iteration eliminates. The matrix is small and dense, and is reduced step by step in NumPy, so that
the pictures show which elements are zero, and the eigenvalues show that the order is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.study import Study

ORDER, BANDWIDTH = 24, 5
STEPS = {"4.2": (0, 1), "4.3": (2, 3, 4, 5), "4.4": (25, 41, 42, 43)}
"""Steps that the figures show."""

SEED = 4


def run(study: Study) -> dict:
    """Reduce a matrix of order 24 step by step, and draw the steps of the three figures."""
    matrix = random_band(ORDER, BANDWIDTH)
    work, vectors = matrix.copy(), dict[int, np.ndarray]()
    shown = {step: name for name, steps in STEPS.items() for step in steps}
    figures = {name: _panels(study, len(steps)) for name, steps in STEPS.items()}
    rows = []
    for step in range(last_step(ORDER) + 1):
        tasks = tasks_of_step(ORDER, BANDWIDTH, step)
        for task in tasks:
            process(work, BANDWIDTH, task, vectors)
        rows.append((step, len(tasks), ", ".join(f"{nu}:{beta}" for nu, beta in tasks)))
        if step in shown:
            name = shown[step]
            _draw(figures[name][1][STEPS[name].index(step)], work, step, tasks)
    for name, (figure, _) in figures.items():
        study.save(figure, f"sbth-blocks-{name}.png")
    heads = ("step", "pairs in parallel", "iteration:pair")
    study.table(f"Pairs in the pipeline, n = {ORDER}, d = {BANDWIDTH}", heads, rows)
    error = float(np.abs(np.linalg.eigvalsh(work) - np.linalg.eigvalsh(matrix)).max())
    outside = float(np.abs(np.tril(work, -2)).max())
    return {"steps": len(rows), "error of eigenvalues": error, "largest element left": outside}


def random_band(n: int, d: int) -> np.ndarray:
    """Return a random symmetric matrix with d diagonals below the main one."""
    a = np.random.default_rng(SEED).standard_normal((n, n))
    a = np.tril(np.triu(a + a.T, -d), d)
    return a


def last_step(n: int) -> int:
    """Return the number of the last step: the only pair of iteration n - 2."""
    return 2 * (n - 3) + 1


def tasks_of_step(n: int, d: int, step: int) -> list[tuple[int, int]]:
    """Return (nu, beta) of all tasks of a step, the newest iteration first."""
    found = []
    for nu in range(min(step // 2 + 1, n - 2), 0, -1):
        beta = step - 2 * (nu - 1)
        if beta > -(-(n - nu) // d):
            break
        found.append((nu, beta))
    return found


def rows_of_block(n: int, d: int, nu: int, beta: int) -> slice:
    """Return the rows of block beta of iteration nu, counted from 0."""
    first = nu + (beta - 1) * d
    return slice(first, min(first + d, n))


def process(a: np.ndarray, d: int, task: tuple[int, int], vectors: dict[int, np.ndarray]) -> None:
    """Process a task; `vectors` holds the reflection of each iteration that is under way."""
    n, (nu, beta) = len(a), task
    below = rows_of_block(n, d, nu, beta + 1)
    if beta == 0:
        column = slice(nu - 1, nu)
    else:
        column = rows_of_block(n, d, nu, beta)
        q = vectors[nu]
        a[column, column] = q @ a[column, column] @ q
    if below.start >= n:
        return
    block = a[below, column] if beta == 0 else a[below, column] @ vectors[nu]
    vectors[nu] = _reflection(block[:, 0])
    a[below, column] = vectors[nu] @ block
    a[column, below] = a[below, column].T
    a[below.start + 1 : below.stop, column.start] = 0.0
    a[column.start, below.start + 1 : below.stop] = 0.0


def _reflection(x: np.ndarray) -> np.ndarray:
    """Return the symmetric reflection that brings x to a multiple of the first unit vector."""
    v = x.copy()
    v[0] += np.copysign(np.linalg.norm(x), x[0])
    square = v @ v
    return np.eye(x.size) - (2.0 / square * np.outer(v, v) if square > 0.0 else 0.0)


def _panels(study: Study, count: int) -> tuple[Any, Any]:
    figure = study.figure((5.0 * min(count, 2), 5.0 * -(-count // 2)))
    return figure, figure.subplots(-(-count // 2), min(count, 2), squeeze=False).ravel()


def _draw(axes: Any, a: np.ndarray, step: int, tasks: list[tuple[int, int]]) -> None:
    """Draw the elements of the lower triangle that are not 0, and the blocks after a step."""
    from matplotlib.patches import Rectangle

    n, d = len(a), BANDWIDTH
    i, j = np.nonzero(np.tril(a))
    axes.plot(j, i, "x", color="0.4", markersize=4)
    for nu, beta in tasks:
        below = rows_of_block(n, d, nu, beta + 1)
        column = slice(nu - 1, nu) if beta == 0 else rows_of_block(n, d, nu, beta)
        for rows in (below,) if beta == 0 else (column, below):
            if rows.start < n:
                corner = (column.start - 0.5, rows.start - 0.5)
                size = (column.stop - column.start, rows.stop - rows.start)
                axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor="C0"))
        axes.text(column.start, (column if beta else below).start, str(nu), color="C3")
    axes.set(xlim=(-1, n), ylim=(n, -1), aspect="equal", title=f"step {step}")
