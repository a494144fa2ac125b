"""Errors of a simulation: unstable flows and bad checkpoints."""

from __future__ import annotations

from typing import Any


class UnstableError(RuntimeError):
    """The flow has become NaN, too fast or too dense; the message names the cell and remedies.

    Attributes
    ----------
    step : int
        The first step after which the flow was bad; if no earlier state was kept, the step of the
        check that found it.
    cell : (x, y, z)
        The worst cell at that step.
    """

    def __init__(self, message: str, step: int, cell: tuple[int, int, int]):
        super().__init__(message)
        self.step, self.cell = step, cell

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.step, self.cell), self.__dict__  # with its notes


class CheckpointError(RuntimeError):
    """A checkpoint is damaged, of another version, or of another problem."""
