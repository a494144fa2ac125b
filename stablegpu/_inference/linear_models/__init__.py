"""Linear models with stable errors: residuals, their likelihood and its gradient."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Residuals of linear models, and their log-likelihoods.

    `y` (models, n) and `x` (models, p, n), or (1, p, n) for all models, are those of all models.
    `which` (m,) names the models of a call; `theta` (m, 4 + p) has alpha, beta, the location of S0,
    the logarithm of the scale and the coefficients of each, `residuals` (m, n) belong to these.
    """

    def subtract(
        self, x: Array, y: Array, which: Array, theta: Array, residuals: Array, stream: Stream = 0
    ) -> None:
        """Write the residuals y - X b."""

    def score(
        self, x: Array, residuals: Array, which: Array, theta: Array, table: Array,
        outcomes: Array, stream: Stream = 0,
    ) -> None:  # fmt: skip
        """Write log-likelihoods and gradients by theta, (m, 5 + p).

        Scores of the location overwrite the residuals.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._inference.linear_models import cpu

        return cpu
    from stablegpu._inference.linear_models import cuda

    return cuda
