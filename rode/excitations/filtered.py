"""White noise behind a linear filter, such as those of Kanai and Tajimi, Clough and Penzien."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from rode.excitations.excitation import Envelope, Excitation, Source, checked_envelope, stationary

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Filtered(Excitation):
    """Filtered white noise u = C s, ds = F s dt + L dW.

    Parameters
    ----------
    F : (states, states) array, 1/s
    L : (states,) or (states, noises) array
    C : (states,) or (components, states) array
    envelope : factor of u; see `Excitation`
    start : {"stationary", "rest"}
        s at the beginning: drawn from the stationary law, or 0.

    Raises
    ------
    TypeError, ValueError
        Shapes do not fit, a number is not finite, or the filter has no stationary law.
    """

    def __init__(
        self,
        F: ArrayLike,
        L: ArrayLike,
        C: ArrayLike,
        *,
        envelope: Envelope = None,
        start: str = "stationary",
    ) -> None:
        matrix, noise, outputs = (as_real(n, a) for n, a in (("F", F), ("L", L), ("C", C)))
        noise = noise.reshape(-1, 1) if noise.ndim == 1 else noise
        outputs = np.atleast_2d(outputs)
        shapes = matrix.shape, noise.shape, outputs.shape
        size = len(matrix) if matrix.ndim == 2 else 0
        fits = matrix.shape == (size, size) and noise.ndim == outputs.ndim == 2 and size > 0
        if not fits or noise.shape[0] != size or outputs.shape[1] != size:
            raise ValueError(
                "F, L and C must have the shapes (states, states), (states, noises) and "
                f"(components, states), got {shapes}"
            )
        for name, array in (("F", matrix), ("L", noise), ("C", outputs)):
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite, got NaN or infinity")
        validation.check_choice("start", start, ("stationary", "rest"))
        self.F, self.L, self.C, self.start = matrix, noise, outputs, start
        at_start = stationary(matrix, noise) if start == "stationary" else np.zeros((size, size))
        self.covariance = at_start
        self.envelope = checked_envelope(envelope)

    def __repr__(self) -> str:
        arrays = ", ".join(f"{n}={getattr(self, n).tolist()}" for n in ("F", "L", "C"))
        return f"Filtered({arrays}, start={self.start!r})"

    @classmethod
    def kanai_tajimi(
        cls,
        zeta: float = 0.64,
        omega: float = 15.56,
        *,
        c: float = 1.0,
        envelope: Envelope = None,
        start: str = "stationary",
    ) -> Filtered:
        """Return the acceleration of the ground by Kanai and Tajimi, in m/s^2.

        White noise of the bedrock passes through a layer of soil of damping zeta and frequency
        omega (rad/s). c is the intensity of the noise, m^2/s^3, 2 pi times its two-sided spectral
        density. The stationary variance is c omega (1 + 4 zeta^2)/(4 zeta).
        """
        zeta, omega = _bounded("zeta", zeta), _bounded("omega", omega)
        c = validation.check_in_range("c", c, 0.0, 1e100, closed="right")
        damping = 2.0 * zeta * omega
        F = [[0.0, 1.0], [-(omega**2), -damping]]
        return cls(F, [0.0, -(c**0.5)], [-(omega**2), -damping], envelope=envelope, start=start)

    @classmethod
    def clough_penzien(
        cls,
        zeta: float = 0.64,
        omega: float = 15.56,
        *,
        zeta_f: float = 0.6,
        omega_f: float = 1.556,
        c: float = 1.0,
        envelope: Envelope = None,
        start: str = "stationary",
    ) -> Filtered:
        """Return the acceleration of Kanai and Tajimi behind a second filter (Clough and Penzien).

        The filter of damping zeta_f and frequency omega_f multiplies the spectral density by
        w^4/((omega_f^2 - w^2)^2 + (2 zeta_f omega_f w)^2), so that the displacement of the ground
        has a finite variance.
        """
        soil = cls.kanai_tajimi(zeta, omega, c=c)
        zeta_f, omega_f = _bounded("zeta_f", zeta_f), _bounded("omega_f", omega_f)
        behind = np.array([-(omega_f**2), -2.0 * zeta_f * omega_f])
        F = np.zeros((4, 4))
        F[:2, :2], F[2, 3], F[3, :2], F[3, 2:] = soil.F, 1.0, soil.C[0], behind
        C = np.append(soil.C[0], behind)
        return cls(F, np.append(soil.L[:, 0], [0.0, 0.0]), C, envelope=envelope, start=start)

    @property
    def components(self) -> int:
        """Number of outputs of the filter."""
        return len(self.C)

    def sources(self) -> list[Source]:
        """Return the filter itself."""
        mean = np.zeros(len(self.F))
        return [Source(self.F, self.L, self.C, mean, self.covariance, self.envelope)]


def _bounded(name: str, value: float) -> float:
    """Return a damping or a frequency for which the stationary law has no loss of digits."""
    return validation.check_in_range(name, value, 1e-5, 1e5)
