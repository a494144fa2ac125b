"""Tables of walls of a block whose state is moments: a step returns the equilibria of free streams
by itself, where populations are replaced after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lbm.geometry.wall_links import INTO, SPECIAL, Links

STREAM = 4
"""Column of `tabulate_masks`, behind those of `masks_with_returns`: links into free streams."""


def has_streams(links: Links) -> bool:
    """Return whether there are links into free streams."""
    return bool(links.into_streams().any())


def tabulate_masks(links: Links) -> np.ndarray:
    """Return the masks, uint32 [class, column]; the columns INTO, SPECIAL and RETURN are without
    streams."""
    into = links.into_streams()
    bits = (into << np.arange(into.shape[1], dtype=np.uint32)).sum(axis=1, dtype=np.uint32)
    masks = links.masks.copy()
    masks[:, [INTO, SPECIAL]] &= ~bits[:, None]
    return np.column_stack([replace(links, masks=masks).masks_with_returns(), bits])


def tabulate_added(links: Links) -> np.ndarray:
    """Return what moving walls add and what streams return, float64 [class, q]; else 0."""
    return np.where(links.into_streams(), links.returned_by_streams(), links.added_by_walls())
