"""Compute the vibration modes of a clamped square plate, and draw them.

    python examples/eigenvalues/plate.py [--device cpu|auto] [--out DIR] [--quick]

A thin plate vibrates as Delta^2 w = L^2 w, in units of its side, its density and its stiffness;
at a clamped edge w and its slope are 0. The biharmonic operator on a grid has a norm of 64 / h^4,
beside which the lowest eigenvalues are small: `sbth.eigsh` with sigma=0 applies Lanczos to the
inverse. The error of the grid is proportional to h^2, so that two grids give values to compare
with the frequency parameters L that Leissa (1973) lists. The second and the third are equal, and
their modes may be mixed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

import sbth
from hetero.display.figures import new_figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import parse_arguments, require_cpu

PUBLISHED = (35.992, 73.413, 73.413, 108.27, 131.64, 132.24)
"""Frequency parameters of the clamped square plate (Leissa 1973, case 21)."""

TOLERANCE = 1e-3
"""Allowed relative difference from them: they are upper bounds by the method of Ritz, and finer
grids say that they are 0.02 to 0.05 % too large. Coarse grids are allowed three times as much."""


def clamped_plate(cells: int) -> sparse.csr_matrix:
    """Return the biharmonic operator on the inner points of a grid with `cells` cells a side.

    The stencil has 13 points. The slope is 0 at an edge if the point behind it mirrors that before
    it, which adds 1 to the diagonal next to the edge.
    """
    n = cells - 1
    second = sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], (n, n))
    fourth = sparse.diags([1.0, -4.0, 6.0, -4.0, 1.0], [-2, -1, 0, 1, 2], (n, n)).tolil()
    fourth[0, 0] = fourth[n - 1, n - 1] = 7.0
    one = sparse.identity(n)
    total = sparse.kron(fourth, one) + 2.0 * sparse.kron(second, second) + sparse.kron(one, fourth)
    return sparse.csr_matrix(total * float(cells) ** 4)


def lowest_modes(cells: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest frequency parameters, and the modes (count, cells - 1, cells - 1)."""
    values, vectors = sbth.eigsh(clamped_plate(cells), count, sigma=0.0, method="lanczos")
    return np.sqrt(values), vectors.T.reshape(count, cells - 1, cells - 1)


def draw(frequencies: np.ndarray, modes: np.ndarray, path: Path) -> Path:
    """Draw the modes with their frequencies and the lines at rest; return the path."""
    figure = new_figure((9.6, 6.8), dpi=150)
    for axes, value, mode in zip(figure.subplots(2, 3).flat, frequencies, modes, strict=True):
        framed = np.pad(mode, 1)
        largest = np.abs(framed).max()
        axes.imshow(framed, cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="bilinear")
        margin = len(mode) // 10  # in the corners the mode is so flat that its sign is noise
        inner = slice(margin, len(mode) - margin)
        x = np.arange(len(mode))[inner] + 1
        axes.contour(x, x, mode[inner, inner], [0.0], colors="0.3", linewidths=0.8)
        axes.set_title(f"L = {value:.2f}", fontsize=10)
        axes.set_axis_off()
    figure.savefig(path)
    return path


def main() -> int:
    """Run the example; return 1 if a frequency differs from the published one."""
    options = parse_arguments(__doc__.splitlines()[0], "out/sbth_plate")
    require_cpu(options.device, "sparse matrices are factored in host memory")
    cells, count = (32 if options.quick else 96), len(PUBLISHED)
    coarse, _ = lowest_modes(cells // 2, count)
    fine, modes = lowest_modes(cells, count)
    frequencies = fine + (fine - coarse) / 3.0  # the error falls to a quarter
    errors = frequencies / PUBLISHED - 1.0
    table = Table("mode", f"{cells} cells", "no grid", "published", "difference")
    for i, published in enumerate(PUBLISHED):
        row = f"{fine[i]:.4f}", f"{frequencies[i]:.4f}", f"{published}", f"{100 * errors[i]:.3f} %"
        table.add_row(str(i + 1), *row)
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log file has no width
    console.print(table)
    console.print(f"Figure: {draw(frequencies, modes, options.out / 'sbth_plate.png')}")
    allowed = TOLERANCE * (3.0 if options.quick else 1.0)
    return int(np.abs(errors).max() > allowed)


if __name__ == "__main__":
    sys.exit(main())
