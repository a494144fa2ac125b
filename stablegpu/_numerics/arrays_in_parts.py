"""Elementwise computations of large arrays in host memory, whose ranges an engine shares out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from hetero.devices import Device, device_of
from hetero.distributed.engines import Engine

MULTIPLE = 4096
"""Elements of which each part but the last has a multiple: vectorized loops then treat an element
alike, whatever the number of parts."""


class Range(NamedTuple):
    """A range of elements.

    Attributes
    ----------
    begin, end : where it begins and ends
    inputs : its elements of each input
    outputs : its elements of each output, or None in another process
    """

    begin: int
    end: int
    inputs: tuple[np.ndarray, ...]
    outputs: tuple[np.ndarray, ...] | None


ArrayTask: TypeAlias = Callable[[Range, Device], Sequence[np.ndarray]]
"""Returns the elements of each output in a range; it has written them to `outputs` if there are."""


def require_host_array(name: str, values: Any) -> None:
    """Raise TypeError for an array on a GPU, whose elements others should compute."""
    if values is not None and device_of(values) is not None:
        raise TypeError(
            f"{name} is on a GPU, where it is computed: pass an array in host memory with several "
            "devices, an executor or comm, or leave these out"
        )


def fill_in_parts(
    engine: Engine,
    task: ArrayTask,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
    title: str,
) -> None:
    """Write what a task computes to flat arrays in host memory.

    Parameters
    ----------
    engine : several devices, an executor, or ranks, all of which get the whole outputs
    task : computes a range on a device
    inputs, outputs : flat arrays of one size
    title : what is computed, for errors and progress
    """
    size = outputs[0].size
    blocks = -(-size // MULTIPLE)
    parts = max(1, min(engine.count_parts(), blocks))
    ends = [min(size, k * blocks // parts * MULTIPLE) for k in range(parts + 1)]

    def select(arrays: Sequence[np.ndarray], part: slice) -> tuple[np.ndarray, ...]:
        return tuple(array[part] for array in arrays)

    slices = [slice(begin, end) for begin, end in itertools.pairwise(ends)]
    elsewhere = engine.is_elsewhere
    ranges = [
        Range(part.start, part.stop, select(inputs, part),
              None if elsewhere else select(outputs, part))
        for part in slices
    ]  # fmt: skip

    def write(number: int, values: Sequence[np.ndarray]) -> None:
        for output, elements in zip(outputs, values, strict=True):
            output[slices[number]] = elements

    engine.run(task, ranges, on_result=write if elsewhere else None, title=title)
