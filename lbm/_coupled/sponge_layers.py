"""Sponges on the parts of a domain: their strengths and targets, and what checkpoints keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from lbm._coupled.companion import Companion
from lbm._kernels.engine import SpongeLayer
from lbm._kernels.items.store import Store
from lbm._kernels.problem import Box
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part
from lbm.boundaries import FACES, require_slow
from lbm.boundaries.prescribed import Dependence, evaluate
from lbm.boundaries.sponge import Sponge
from lbm.lattices.extent import Extent


class Layer(NamedTuple):
    """The cells of a sponge in one part.

    Attributes
    ----------
    name : face of the sponge
    store : of the part's block
    box : the cells in the block
    cells : the cells of the domain
    state : strength and target velocity on the device
    drho, rate : target density less 1, and share by which the target velocity follows the flow
    """

    name: str
    store: Store
    box: Box
    cells: Extent
    state: SpongeLayer
    drho: float
    rate: float


class SpongeLayers(Companion):
    """All sponges of a flow, in the parts of this rank.

    Parameters
    ----------
    sponges : by face, with all targets
    domain : the parts

    Attributes
    ----------
    rows : numbers of a cell that checkpoints keep: target velocities that follow the flow
    """

    def __init__(self, sponges: Mapping[str, Sponge], domain: Domain):
        super().__init__(domain)
        self.sponges = dict(sponges)
        self._following = [name for name, sponge in sponges.items() if sponge.u is None]
        self.rows = 3 * len(self._following)
        self.layers = [
            layer
            for name, sponge in sponges.items()
            for part in domain.parts
            if (layer := self._make_layer(name, sponge, part)) is not None
        ]

    def start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Set the targets to those at the start of a flow with the velocity u of this rank."""
        for layer in self.layers:
            target = self._target(layer.name, self.sponges[layer.name], layer.cells, u)
            _write(layer, 0, target.reshape(3, -1, target.shape[3]))

    def _make_layer(self, name: str, sponge: Sponge, part: Part) -> Layer | None:
        """Return the cells of a sponge in a part, or None."""
        axis, at_end = divmod(FACES.index(name), 2)
        shape, thickness, profile = self.domain.partition.shape, sponge.cells, sponge.profile()
        n = shape[axis]
        strength = np.zeros(n)
        strength[n - thickness :] = profile
        strength = strength if at_end else strength[::-1]
        first, last = (n - thickness, n) if at_end else (0, thickness)
        layers = Extent.of_layers(shape, axis, first, last)
        if (cells := layers.overlap(part.extent)) is None:
            return None
        x, y, z = np.subtract(part.extent.start, part.halo).tolist()
        in_block = cells.relative_to(Extent((x, y, z), part.extent.stop))
        (x0, y0, z0), (x1, y1, z1) = in_block
        block = part.engine.problem
        of_block = np.zeros(block.shape[axis])
        of_block[in_block.slices[axis]] = strength[cells.slices[axis]]
        box = Box(*_row_positions(x0, x1, block.shape[0], block.precision.lanes), y0, y1, z0, z1)
        store, (nx, ny, nz) = Store(part.engine), cells.shape
        state = SpongeLayer(axis, x0, store.put(of_block), store.zeros(3, ny * nz, nx))
        rate = 1.0 / sponge.averaging if sponge.u is None else 0.0
        assert sponge.rho is not None
        return Layer(name, store, box, cells, state, sponge.rho - 1.0, rate)

    def _target(self, name: str, sponge: Sponge, cells: Extent, u: np.ndarray) -> np.ndarray:
        """Return the target velocity [c, z, y, x] of cells of the domain."""
        target = np.empty((3, *cells.shape[::-1]))
        if sponge.u is None:
            local = cells.relative_to(self.domain.region).slices
            values = u[:, None, None, None] if u.ndim == 1 else u[:, *local]
            target[...] = values.transpose(0, 3, 2, 1)
        elif callable(sponge.u):
            grid = np.meshgrid(*(c.ravel() for c in cells.centres), indexing="ij")
            points = np.stack([c.ravel() for c in grid], axis=1)
            values = evaluate("u", sponge.u, Dependence(position=True), points, 0.0, 3)
            speed = float(np.sqrt((values**2).sum(axis=1)).max(initial=0.0))
            require_slow(speed, f"u of sponges[{name!r}]")
            target[...] = values.T.reshape(3, *cells.shape).transpose(0, 3, 2, 1)
        else:
            target[...] = np.array(sponge.u)[:, None, None, None]
        return target

    def before_step(self, t: int) -> None:
        """Relax the populations that step t loads."""
        with self.domain.between_streams():
            for layer in self.layers:
                layer.store.engine.damp(t, layer.box, layer.state, layer.drho, layer.rate)

    # ---- state -------------------------------------------------------------------------------

    def describe(self, t: int) -> str:
        """Return the settings; functions count by what they are functions of only."""
        return "; ".join(f"{name}: {sponge.describe()}" for name, sponge in self.sponges.items())

    def _layers_within(self, z0: int, z1: int) -> Iterator[tuple[int, Layer, Extent, int, int]]:
        """Yield (first row in checkpoints, layer, its cells, z range) of layers that follow.

        z counts from the first cell of the rank, as do the cells.
        """
        for layer in self.layers:
            if layer.name in self._following:
                local = layer.cells.relative_to(self.domain.region)
                first, last = max(z0, local.start[2]), min(z1, local.stop[2])
                if first < last:
                    yield 3 * self._following.index(layer.name), layer, local, first, last

    def read_rows(self, t: int, z0: int, z1: int) -> np.ndarray:
        """Return target velocities of the layers z0 to z1 of this rank; 0 outside of sponges."""
        out = super().read_rows(t, z0, z1)
        for row, layer, local, first, last in self._layers_within(z0, z1):
            (x, y, z), (x1, y1, _) = local
            height = y1 - y
            values = _read(layer, (first - z) * height, (last - z) * height)
            values = values.reshape(3, last - first, height, x1 - x)
            out[row : row + 3, first - z0 : last - z0, y:y1, x:x1] = values
        return out

    def write_rows(self, t: int, z0: int, values: np.ndarray) -> None:
        """Set target velocities of the layers from z0 on."""
        for row, layer, local, first, last in self._layers_within(z0, z0 + values.shape[1]):
            (x, y, z), (x1, y1, _) = local
            rows = values[row : row + 3, first - z0 : last - z0, y:y1, x:x1]
            _write(layer, (first - z) * (y1 - y), rows.reshape(3, -1, x1 - x))

    def copy_state(self, t: int) -> list[np.ndarray]:
        """Return copies of the targets that follow the flow, in host memory."""
        return [
            _read(layer, 0, layer.state.target.shape[1])
            for layer in self.layers
            if layer.name in self._following
        ]

    def return_to_state(self, t: int, state: list[np.ndarray]) -> None:
        """Restore copied targets."""
        following = [layer for layer in self.layers if layer.name in self._following]
        for layer, target in zip(following, state, strict=True):
            _write(layer, 0, target)


def _read(layer: Layer, first: int, last: int) -> np.ndarray:
    """Return the target velocity of the rows `first` to `last` of a layer, [3, row, x]."""
    return np.stack([layer.store.get(layer.state.target[k, first:last]) for k in range(3)])


def _write(layer: Layer, first: int, rows: np.ndarray) -> None:
    """Set the target velocity of the rows of a layer from `first` on, [3, row, x]."""
    for k in range(3):
        layer.store.set(layer.state.target[k, first : first + rows.shape[1]], rows[k])


def _row_positions(x0: int, x1: int, nx: int, lanes: int) -> tuple[int, int]:
    """Return the positions of a row's memory between which the cells x0 <= x < x1 lie.

    With two lanes other cells lie between them, too, and the bounds are multiples of a word.
    """
    if lanes == 1:
        return x0, x1
    half = nx // 2
    if x0 < half < x1:
        return 0, nx
    first = x0 % half
    return 2 * first, 2 * (first + x1 - x0)
