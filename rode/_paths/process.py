"""The Ornstein-Uhlenbeck process that drives an equation."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from hetero import validation


@dataclass(frozen=True)
class Process:
    """Ornstein-Uhlenbeck process dO = -O/tau dt + sqrt(c) dW.

    Attributes
    ----------
    tau : relaxation time, s
    c : diffusion constant
    """

    tau: float = 1.0
    c: float = 1.0

    def __post_init__(self) -> None:
        for name in ("tau", "c"):
            object.__setattr__(self, name, validation.check_positive(name, getattr(self, name)))

    @functools.cached_property
    def deviation(self) -> float:
        """Standard deviation of the stationary distribution."""
        return math.sqrt(0.5 * self.c * self.tau)

    def step(self, delta: float) -> tuple[float, float]:
        """Return (mu - 1, sigma) of a step of length delta, both to full precision."""
        return self._step(validation.check_in_range("delta", delta, 0.0, math.inf))

    @functools.lru_cache(maxsize=256)  # noqa: B019 - processes are two numbers
    def _step(self, delta: float) -> tuple[float, float]:
        mu_minus_1 = math.expm1(-delta / self.tau)
        return mu_minus_1, math.sqrt(-0.5 * self.c * self.tau * math.expm1(-2.0 * delta / self.tau))


def process_of(process: Process | None) -> Process:
    """Check the argument `process`; None stands for tau = c = 1."""
    if process is not None and not isinstance(process, Process):
        raise TypeError(f"process must be a rode.Process(tau, c), got {process!r}")
    return process or Process()
