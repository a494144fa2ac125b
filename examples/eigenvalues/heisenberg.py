"""Compute the lowest states of a Heisenberg ring, and compare them with the Bethe ansatz.

    python examples/eigenvalues/heisenberg.py [--device cpu|cuda|auto] [--out DIR] [--quick]

The antiferromagnetic ring H = sum S_i . S_(i+1) of 16 spins has 12,870 states without
magnetization. `sbth.eigsh` computes the lowest ones, most of which are double. The energy of the
ground state must be that of the Bethe ansatz (Karbach and Müller 1997). Momentum and total spin
tell what the other states are: the lowest triplets lie above the curve of des Cloizeaux and
Pearson (1962), pi/2 |sin k|, which they approach in longer rings.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from scipy.optimize import root

import sbth
from hetero.display.figures import PALETTE, new_figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import parse_arguments

TOLERANCE = 1e-11
"""Allowed error of the energy of the ground state: both ways have only rounding errors."""


def balanced_states(length: int) -> np.ndarray:
    """Return all states with as many spins up as down: integers whose bits are the spins."""
    states = np.arange(2**length)
    ups = sum((states >> site) & 1 for site in range(length))
    chosen: np.ndarray = states[ups == length // 2]
    return chosen


def exchange(states: np.ndarray, pairs: list[tuple[int, int]]) -> sparse.csr_matrix:
    """Return the sum of S_i . S_j over pairs of sites, in the basis `states`."""
    n = len(states)
    total = sparse.csr_matrix((n, n))
    for i, j in pairs:
        differ = ((states >> i) ^ (states >> j)) & 1
        rows = np.flatnonzero(differ)
        columns = np.searchsorted(states, states[rows] ^ ((1 << i) | (1 << j)))
        flips = sparse.coo_matrix((np.full(len(rows), 0.5), (rows, columns)), (n, n))
        total = total + flips.tocsr() + sparse.diags(0.25 - 0.5 * differ)
    return total.tocsr()


def bethe_energy(length: int) -> float:
    """Return the energy of the ground state of a ring, from the Bethe equations for its rapidities.

    length 2 arctan(2 x_j) = 2 pi I_j + sum_k 2 arctan(x_j - x_k), with consecutive I_j around 0.
    """
    count = length // 2
    numbers = np.arange(count) - (count - 1) / 2

    def equations(x: np.ndarray) -> np.ndarray:
        scattering = np.arctan(x[:, None] - x).sum(axis=1)
        return np.asarray(length * np.arctan(2.0 * x) - np.pi * numbers - scattering)

    x = root(equations, np.tan(np.pi * numbers / length) / 2, tol=1e-15).x
    return float(length / 4 - np.sum(0.5 / (x * x + 0.25)))


def momenta(energies: np.ndarray, vectors: np.ndarray, states: np.ndarray, length: int) -> tuple:
    """Return energies and momenta (units of 2 pi / length) of common eigenstates of H and shifts.

    The shift by one site is diagonalized among the states of each energy. The last energy is left
    out, because it may have further states. The third result are the eigenstates.
    """
    shifted = np.searchsorted(states, (states >> 1) | ((states & 1) << (length - 1)))
    bounds = np.flatnonzero(np.diff(energies, prepend=-np.inf, append=np.inf) > 1e-8)
    result: list[tuple] = []
    for first, stop in list(pairwise(bounds))[:-1]:
        level = vectors[:, first:stop]
        phases, mixing = np.linalg.eig(level.T @ level[shifted])
        numbers = np.rint(np.angle(phases) * length / (2 * np.pi)).astype(int) % length
        result += [
            (energies[first], number, state)
            for number, state in zip(numbers, (level @ mixing).T, strict=True)
        ]
    levels, numbers, shapes = zip(*result, strict=True)
    return np.array(levels), np.array(numbers), np.array(shapes).T


def total_spins(vectors: np.ndarray, states: np.ndarray, length: int) -> np.ndarray:
    """Return the total spins of eigenstates: <(sum S_i)^2> = S (S + 1)."""
    pairs = [(i, j) for j in range(length) for i in range(j)]
    squares = 0.75 * length + 2.0 * np.sum(
        (vectors.conj() * (exchange(states, pairs) @ vectors)).real, axis=0
    )
    return np.rint(np.sqrt(np.maximum(squares, 0.0) + 0.25) - 0.5).astype(int)


def correlations(ground: np.ndarray, states: np.ndarray, length: int) -> np.ndarray:
    """Return <S_0^z S_r^z> of the ground state for r = 0 to length / 2."""
    up = ((states[:, None] >> np.arange(length // 2 + 1)) & 1) - 0.5
    averages: np.ndarray = (np.abs(ground) ** 2 * up[:, 0]) @ up
    return averages


def draw(
    path: Path, length: int, levels: np.ndarray, numbers: np.ndarray, spins: np.ndarray,
    along: np.ndarray,
) -> Path:  # fmt: skip
    """Draw energies over momentum, and correlations of the ground state; return the path."""
    figure = new_figure((11, 4.4), dpi=150)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    k = np.linspace(0.0, 2.0, 201)
    left.plot(k, np.pi / 2 * np.abs(np.sin(np.pi * k)), color="0.7", label="π/2 |sin k|")
    for spin, name in enumerate(("singlets", "triplets", "quintets")):
        chosen = spins == spin
        turns = (numbers[chosen] - numbers[0]) % length * 2.0 / length
        energies = levels[chosen] - levels[0]
        left.plot(turns, energies, "o", color=PALETTE[spin], label=name, markersize=5 - spin)
    left.set(
        xlabel="momentum k / π, that of the ground state subtracted",
        ylabel="energy above the ground state",
    )
    left.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    r = np.arange(len(along))
    right.bar(r, along, color=PALETTE[0])
    right.set(xlabel="distance r", ylabel="correlation of z components")
    figure.savefig(path)
    return path


def main() -> int:
    """Run the example; return 1 if the ground state differs from the Bethe ansatz."""
    options = parse_arguments(__doc__.splitlines()[0], "out/sbth_heisenberg")
    device = None if options.device == "auto" else options.device
    length, count = (10, 40) if options.quick else (16, 48)
    states = balanced_states(length)
    ring = exchange(states, [(i, (i + 1) % length) for i in range(length)])
    energies, vectors = sbth.eigsh(ring, count, which="SA", device=device, progress=True)
    bethe = bethe_energy(length)
    error = abs(float(energies[0]) - bethe)
    levels, numbers, shapes = momenta(energies, vectors, states, length)
    spins = total_spins(shapes, states, length)
    table = Table("energy", "momentum", "total spin", title=f"{length} spins, lowest states")
    for row in zip(levels[:8], numbers, spins, strict=False):
        table.add_row(f"{row[0]:.10f}", f"{row[1]}/{length} of 2π", str(row[2]))
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log file has no width
    console.print(table)
    console.print(f"Bethe ansatz: {bethe:.12f}, difference {error:.1e} (allowed: {TOLERANCE:g})")
    along = correlations(vectors[:, 0], states, length)
    target = options.out / "sbth_heisenberg.png"
    console.print(f"Figure: {draw(target, length, levels, numbers, spins, along)}")
    return int(error > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
