"""Two magnons on a chain of spins, and the modes of an L-shaped membrane.

    python examples/sbth_spins.py [--device cpu|cuda|auto] [--out DIR] [--quick]

Band matrices from physics, all eigenvalues, against what is known exactly. Two flipped spins on the
open XX chain are free fermions, E = cos k_i + cos k_j. On the Heisenberg (XXX) chain they attract
each other and bind, and the energies of one magnon are among theirs, by symmetry. The third mode of
the L-shaped membrane is that of a square.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib.figure
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from scipy.linalg import eigh_tridiagonal
from scipy.sparse.csgraph import reverse_cuthill_mckee

import hetero
import sbth
from _shared import Figure, Row, parse_arguments

COLOURS = {"XX": "#1668b0", "XXX": "#d1602b"}


def narrow_band(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Band storage of a sparse symmetric matrix, and the order of its rows there."""
    order = reverse_cuthill_mckee(sparse.csr_matrix(matrix), symmetric_mode=True)
    return sbth.band_from_sparse(matrix.tocsr()[order][:, order]), order


# ---- two magnons ------------------------------------------------------------------------------


def two_magnons(length: int, anisotropy: float):
    """H = sum (S+ S- + S- S+)/2 + anisotropy Sz Sz of two flipped spins: sparse, L(L - 1)/2."""
    i, j = np.triu_indices(length, 1)
    number = np.zeros((length + 1, length + 1), int)
    number[i, j] = np.arange(len(i))
    walls = (i > 0).astype(int) + (j < length - 1) + 2 * (j > i + 1)
    diagonal = anisotropy * ((length - 1) / 4.0 - walls / 2.0)
    first, second = j > i + 1, j < length - 1  # the left one goes right, or the right one does
    rows = np.concatenate([number[i[first], j[first]], number[i[second], j[second]]])
    columns = np.concatenate([number[i[first] + 1, j[first]], number[i[second], j[second] + 1]])
    half = sparse.coo_matrix((np.full(len(rows), 0.5), (rows, columns)), (len(i), len(i)))
    return (half + half.T + sparse.diags(diagonal)).tocsr()


@dataclass(frozen=True)
class Chain:
    """Energies of two magnons, and how far known ones are from them, over the largest."""

    name: str
    bandwidth: int
    energies: np.ndarray
    error: float


def chain(name: str, length: int, device) -> Chain:
    """The XX or XXX chain, solved."""
    ab, _ = narrow_band(two_magnons(length, 1.0 if name == "XXX" else 0.0))
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


def membrane(cells: int):
    """Minus the Laplacian on three unit squares in an L, `cells` a side: sparse matrix, places."""
    inside = np.zeros((2 * cells + 1, 2 * cells + 1), bool)
    inside[1:-1, 1:-1] = True
    inside[cells:, cells:] = False
    places = np.argwhere(inside)
    number = np.full(inside.shape, -1)
    number[inside] = np.arange(len(places))
    matrix = sparse.diags(np.full(len(places), 4.0)).tolil()
    for step in ((1, 0), (0, 1)):
        neighbour = number[places[:, 0] + step[0], places[:, 1] + step[1]]
        here = np.flatnonzero(neighbour >= 0)
        matrix[here, neighbour[here]] = matrix[neighbour[here], here] = -1.0
    return (matrix * float(cells) ** 2).tocsr(), places


def modes(cells: int, count: int, device) -> tuple[np.ndarray, list[np.ndarray]]:
    """The lowest eigenvalues of the membrane, and its shapes: NaN outside."""
    matrix, places = membrane(cells)
    ab, order = narrow_band(matrix)
    d, e, q = sbth.tridiagonalize(ab, keep_reflectors=True, device=device)
    window = {"select": "i", "select_range": (0, count - 1)}
    values = sbth.eigvalsh_tridiagonal(d, e, **window, device=device)
    vectors = q.apply(eigh_tridiagonal(d, e, **window)[1])
    shapes = []
    for vector in vectors.T:
        shape = np.full((2 * cells + 1, 2 * cells + 1), np.nan)
        shape[tuple(places[order].T)] = vector * np.sign(vector[np.argmax(np.abs(vector))])
        shapes.append(shape)
    return values, shapes


def of_a_square(cells: int) -> float:
    """The grid's 2 pi^2: the third mode of the L, which has no part in its corner."""
    return 8.0 * cells**2 * np.sin(np.pi / (2 * cells)) ** 2


# ---- pictures ---------------------------------------------------------------------------------


def report(chains: list[Chain]) -> Table:
    table = Table("chain", "states", "bandwidth", "lowest", "highest", "error", title="Two magnons")
    for found in chains:
        low, high = found.energies[[0, -1]]
        cells = (f"{low:.6f}", f"{high:.6f}", f"{found.error:.1e}")
        table.add_row(found.name, str(len(found.energies)), str(found.bandwidth), *cells)
    return table


def draw_chains(chains: list[Chain], path: Path) -> Path:
    """Densities of states, from the top of the spectrum."""
    figure = matplotlib.figure.Figure(figsize=(9, 4.2), dpi=150, layout="constrained")
    axes = figure.subplots()
    for found in chains:
        energies = found.energies - (found.energies[-1] if found.name == "XXX" else 2.0)
        bins = min(120, len(energies) // 25)
        style = {"density": True, "histtype": "step", "color": COLOURS[found.name]}
        axes.hist(energies, bins, label=f"{found.name}, {len(energies)} states", **style)
    axes.set(xlabel="energy below two magnons at rest", ylabel="density of states")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path)
    return path


def draw_modes(values, shapes, path: Path) -> Path:
    figure = matplotlib.figure.Figure(figsize=(12, 3.4), dpi=150, layout="constrained")
    for axes, value, shape in zip(figure.subplots(1, len(shapes)), values, shapes, strict=True):
        most = np.nanmax(np.abs(shape))
        axes.imshow(shape, cmap="RdBu_r", vmin=-most, vmax=most, interpolation="bilinear")
        axes.set_title(f"λ = {value:.4f}", fontsize=10)
        axes.set_axis_off()
    figure.savefig(path)
    return path


# ---- for the tour ------------------------------------------------------------------------------


def sizes(device, quick: bool) -> tuple[int, int]:
    """Spins of a chain, cells of a membrane's square."""
    large = hetero.resolve(device).kind == "cuda"
    return (24, 8) if quick else (128 if large else 48, 24)


def figures(out: Path, device: hetero.Device, quick: bool) -> list[Figure]:
    """The figures of this domain, drawn once, with values from `device`."""
    spins, cells = sizes(device, quick)
    chains = [chain(name, spins, device) for name in COLOURS]
    caption = (
        f"Density of states of two magnons on {spins} spins. Without attraction (XX) they are "
        "free fermions; on the Heisenberg chain (XXX) bound pairs add to the continuum."
    )
    mode_caption = (
        f"The lowest modes of an L-shaped membrane on a grid of {cells} cells a side; the third "
        "is that of a square, and its eigenvalue nearly 2π² = 19.7392."
    )
    return [
        Figure("Two magnons", caption, draw_chains(chains, out / "sbth_spins.png")),
        Figure(
            "An L-shaped membrane",
            mode_caption,
            draw_modes(*modes(cells, 4, device), out / "sbth_membrane.png"),
        ),
    ]


def tour(out: Path, device: hetero.Device, quick: bool) -> list[Row]:
    """All energies of two magnons on `device`, and a mode of the membrane."""
    spins, cells = sizes(device, quick)
    ab, _ = narrow_band(two_magnons(spins, 0.0))
    found = chain("XX", spins, device)
    n = ab.shape[1]
    timing = hetero.benchmark(
        lambda: sbth.eigvals_banded(ab, device=device), repeats=5, device=device
    )
    values, _ = modes(cells, 4, device)
    error = abs(values[2] / of_a_square(cells) - 1.0)
    bound = 1e-13 * n
    common = {"device": str(device), "fraction_of_limit": None, "limit": ""}
    return [
        Row(
            job=f"all energies of two magnons on {spins} spins, n = {n}, bandwidth {len(ab) - 1}",
            rate=timing.rate(n),
            unit="eigenvalues/s",
            check=f"largest error {found.error:.1e} of the XX chain's energies",
            passed=found.error < bound,
            **common,
        ),
        Row(
            job=f"modes of an L-shaped membrane, {cells} cells a side",
            rate=None,
            unit="",
            check=f"third eigenvalue within {error:.1e} of the square's",
            passed=error < 1e-11,
            **common,
        ),
    ]


def main() -> int:
    options = parse_arguments(__doc__.splitlines()[0], "out/sbth_spins")
    device = None if options.device == "auto" else options.device
    spins, cells = sizes(device, options.quick)
    chains = [chain(name, spins, device) for name in COLOURS]
    values, shapes = modes(cells, 4, device)
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log has no width of its own
    console.print(report(chains))
    console.print(f"L-shaped membrane: {', '.join(f'{v:.6f}' for v in values)}")
    console.print(f"Figure: {draw_chains(chains, options.out / 'sbth_spins.png')}")
    console.print(f"Figure: {draw_modes(values, shapes, options.out / 'sbth_membrane.png')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
