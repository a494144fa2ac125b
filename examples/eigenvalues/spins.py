"""Compute the energies of two magnons on a spin chain, and the modes of an L-shaped membrane.

    python examples/eigenvalues/spins.py [--device cpu|cuda|auto] [--out DIR] [--quick]

Eigenvalues of band matrices from physics are compared with exact results. Two flipped spins on the
open XX chain are free fermions with E = cos k_i + cos k_j. On the Heisenberg (XXX) chain they
attract each other and form bound states; by symmetry their energies include those of one magnon.
The third mode of the L-shaped membrane is that of a square.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from scipy.linalg import eigh_tridiagonal
from scipy.sparse.csgraph import reverse_cuthill_mckee

import hetero
import sbth
from hetero.display.figures import PALETTE, new_figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import Figure, Row, parse_arguments

COLOURS = {"XX": PALETTE[0], "XXX": PALETTE[1]}


def to_narrow_band(matrix: sparse.spmatrix) -> tuple[np.ndarray, np.ndarray]:
    """Permute a sparse symmetric matrix to a small bandwidth; return band storage and row order."""
    order = reverse_cuthill_mckee(sparse.csr_matrix(matrix), symmetric_mode=True)
    return sbth.band_from_sparse(matrix.tocsr()[order][:, order]), order


# ---- two magnons ------------------------------------------------------------------------------


def two_magnon_hamiltonian(length: int, anisotropy: float) -> sparse.csr_matrix:
    """Return H = sum (S+ S- + S- S+)/2 + anisotropy Sz Sz for two flipped spins."""
    i, j = np.triu_indices(length, 1)
    number = np.zeros((length + 1, length + 1), int)
    number[i, j] = np.arange(len(i))
    walls = (i > 0).astype(int) + (j < length - 1) + 2 * (j > i + 1)
    diagonal = anisotropy * ((length - 1) / 4.0 - walls / 2.0)
    first, second = j > i + 1, j < length - 1  # the left or the right one can move right
    rows = np.concatenate([number[i[first], j[first]], number[i[second], j[second]]])
    columns = np.concatenate([number[i[first] + 1, j[first]], number[i[second], j[second] + 1]])
    half = sparse.coo_matrix((np.full(len(rows), 0.5), (rows, columns)), (len(i), len(i)))
    return (half + half.T + sparse.diags(diagonal)).tocsr()


@dataclass(frozen=True)
class Chain:
    """Energies of two magnons, and the error of the known ones relative to the largest."""

    name: str
    bandwidth: int
    energies: np.ndarray
    error: float


def solve_chain(name: str, length: int, device: hetero.Device | str | None) -> Chain:
    """Solve the XX or the XXX chain."""
    ab, _ = to_narrow_band(two_magnon_hamiltonian(length, 1.0 if name == "XXX" else 0.0))
    energies = sbth.eigvals_banded(ab, device=device)
    if name == "XX":
        one = np.cos(np.pi * np.arange(1, length + 1) / (length + 1))
        i, j = np.triu_indices(length, 1)
        error = np.max(np.abs(np.sort(one[i] + one[j]) - energies))
    else:
        one = (length - 1) / 4.0 - 1.0 + np.cos(np.pi * np.arange(length) / length)
        error = np.max(np.min(np.abs(energies[:, None] - one), axis=0))
    return Chain(name, len(ab) - 1, energies, float(error / np.max(np.abs(energies))))


# ---- the membrane -----------------------------------------------------------------------------


def membrane_laplacian(cells: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return minus the Laplacian on an L of three unit squares, and the grid points of its rows.

    The side of a square has `cells` cells.
    """
    inside = np.zeros((2 * cells + 1, 2 * cells + 1), bool)
    inside[1:-1, 1:-1] = True
    inside[cells:, cells:] = False
    points = np.argwhere(inside)
    number = np.full(inside.shape, -1)
    number[inside] = np.arange(len(points))
    matrix = sparse.diags(np.full(len(points), 4.0)).tolil()
    for step in ((1, 0), (0, 1)):
        neighbour = number[points[:, 0] + step[0], points[:, 1] + step[1]]
        row = np.flatnonzero(neighbour >= 0)
        matrix[row, neighbour[row]] = matrix[neighbour[row], row] = -1.0
    return (matrix * float(cells) ** 2).tocsr(), points


def lowest_modes(
    cells: int, count: int, device: hetero.Device | str | None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the lowest eigenvalues of the membrane, and the shapes of its modes (NaN outside)."""
    matrix, points = membrane_laplacian(cells)
    ab, order = to_narrow_band(matrix)
    d, e, q = sbth.tridiagonalize(ab, keep_reflectors=True, device=device)
    window = {"select": "i", "select_range": (0, count - 1)}
    values = sbth.eigvalsh_tridiagonal(d, e, **window, device=device)
    vectors = q.apply(eigh_tridiagonal(d, e, **window)[1])
    shapes = []
    for vector in vectors.T:
        shape = np.full((2 * cells + 1, 2 * cells + 1), np.nan)
        shape[tuple(points[order].T)] = vector * np.sign(vector[np.argmax(np.abs(vector))])
        shapes.append(shape)
    return values, shapes


def square_eigenvalue(cells: int) -> float:
    """Return the discrete 2 pi^2: the eigenvalue of the third mode, which consists of squares."""
    return 8.0 * cells**2 * np.sin(np.pi / (2 * cells)) ** 2


# ---- figures ---------------------------------------------------------------------------------


def make_table(chains: list[Chain]) -> Table:
    """Return a table of the chains."""
    table = Table("chain", "states", "bandwidth", "lowest", "highest", "error", title="Two magnons")
    for chain in chains:
        low, high = chain.energies[[0, -1]]
        cells = (f"{low:.6f}", f"{high:.6f}", f"{chain.error:.1e}")
        table.add_row(chain.name, str(len(chain.energies)), str(chain.bandwidth), *cells)
    return table


def draw_chains(chains: list[Chain], path: Path) -> Path:
    """Draw the densities of states below two magnons at rest; return the path."""
    figure = new_figure((9, 4.2), dpi=150)
    axes = figure.subplots()
    for chain in chains:
        energies = chain.energies - (chain.energies[-1] if chain.name == "XXX" else 2.0)
        bins = min(120, len(energies) // 25)
        style = {"density": True, "histtype": "step", "color": COLOURS[chain.name]}
        axes.hist(energies, bins, label=f"{chain.name}, {len(energies)} states", **style)
    axes.set(xlabel="energy below two magnons at rest", ylabel="density of states")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path)
    return path


def draw_modes(values: np.ndarray, shapes: list[np.ndarray], path: Path) -> Path:
    """Draw the modes with their eigenvalues; return the path."""
    figure = new_figure((12, 3.4), dpi=150)
    for axes, value, shape in zip(figure.subplots(1, len(shapes)), values, shapes, strict=True):
        largest = np.nanmax(np.abs(shape))
        axes.imshow(shape, cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="bilinear")
        axes.set_title(f"λ = {value:.4f}", fontsize=10)
        axes.set_axis_off()
    figure.savefig(path)
    return path


# ---- for the tour ------------------------------------------------------------------------------


def sizes(device: hetero.Device | str | None, quick: bool) -> tuple[int, int]:
    """Return the numbers of spins of a chain, and of cells of a side of the membrane's squares."""
    is_gpu = hetero.resolve(device).kind == "cuda"
    return (24, 8) if quick else (128 if is_gpu else 48, 24)


def figures(out: Path, device: hetero.Device, quick: bool) -> list[Figure]:
    """Draw the figures of this domain, with values from `device`."""
    spins, cells = sizes(device, quick)
    chains = [solve_chain(name, spins, device) for name in COLOURS]
    caption = (
        f"Density of states of two magnons on {spins} spins. On the XX chain they are free "
        "fermions; on the Heisenberg chain (XXX) they attract each other, and bound pairs appear "
        "beside the continuum."
    )
    mode_caption = (
        f"The lowest modes of an L-shaped membrane, on a grid with {cells} cells per unit length, "
        "with their eigenvalues λ. The third is that of a square, 2π² = 19.7392 without a grid."
    )
    return [
        Figure(
            "How does an L-shaped drum sound?",
            mode_caption,
            draw_modes(*lowest_modes(cells, 4, device), out / "sbth_membrane.png"),
            "python examples/eigenvalues/spins.py",
            ("Fox1967", "Lang1993"),
        ),
        Figure(
            "Which energies do two magnons have?",
            caption,
            draw_chains(chains, out / "sbth_spins.png"),
            sources=("Karbach1997",),
        ),
    ]


def tour(out: Path, device: hetero.Device, quick: bool) -> list[Row]:
    """Compute all energies of two magnons and the modes of the membrane on `device`; check them."""
    spins, cells = sizes(device, quick)
    ab, _ = to_narrow_band(two_magnon_hamiltonian(spins, 0.0))
    solved = solve_chain("XX", spins, device)
    n = ab.shape[1]
    timing = hetero.benchmark(
        lambda: sbth.eigvals_banded(ab, device=device), repeats=5, device=device
    )
    values, _ = lowest_modes(cells, 4, device)
    error = abs(values[2] / square_eigenvalue(cells) - 1.0)
    bound = 1e-13 * n
    common = {"device": str(device), "fraction_of_limit": None, "limit": ""}
    return [
        Row(
            job=f"all energies of two magnons on {spins} spins, n = {n}, bandwidth {len(ab) - 1}",
            rate=timing.rate(n),
            unit="eigenvalues/s",
            check=f"largest error {solved.error:.1e} of the largest energy, against free fermions",
            passed=solved.error < bound,
            tolerance=f"{bound:.1e}, which is 1e-13 for each of the {n} rows",
            **common,
        ),
        Row(
            job=f"modes of an L-shaped membrane, {cells} cells per side",
            rate=None,
            unit="",
            check=f"third eigenvalue off by {error:.1e}, relative to the square's on this grid",
            passed=error < 1e-11,
            tolerance="1e-11, since rounding errors are relative to the largest eigenvalue",
            **common,
        ),
    ]


def main() -> int:
    """Run the example and return the exit code."""
    options = parse_arguments(__doc__.splitlines()[0], "out/sbth_spins")
    device = None if options.device == "auto" else options.device
    spins, cells = sizes(device, options.quick)
    chains = [solve_chain(name, spins, device) for name in COLOURS]
    values, shapes = lowest_modes(cells, 4, device)
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log file has no width
    console.print(make_table(chains))
    console.print(f"L-shaped membrane: {', '.join(f'{v:.6f}' for v in values)}")
    console.print(f"Figure: {draw_chains(chains, options.out / 'sbth_spins.png')}")
    console.print(f"Figure: {draw_modes(values, shapes, options.out / 'sbth_membrane.png')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
