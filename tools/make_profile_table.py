"""Write stablegpu/data/likelihood_profile.npz: log pdf of distributions to start an ascent from.

The table holds log pdf of standard distributions, centred at zeta (S1), at distances 2^k and
1.5 x 2^k to both sides of it; their modes; and quantiles of the distance from the mode.
"""

from pathlib import Path

import numpy as np

from stablegpu import stable
from stablegpu._fit.likelihood.second_starts.formulas import (
    ALPHAS,
    BETAS,
    FRACTIONS,
    HIGHEST,
    KNOTS,
    LOWEST,
)

TARGET = Path(__file__).parents[1] / "stablegpu" / "data" / "likelihood_profile.npz"


def distances() -> np.ndarray:
    """Return the tabulated distances from zeta, ascending."""
    powers = 2.0 ** np.arange(LOWEST, HIGHEST)
    return np.stack([powers, 1.5 * powers], axis=1).ravel()


def tabulate(alpha: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return log pdf right and left of zeta, and the mode with the quantiles of distances."""
    distribution = stable(alpha, beta, device="cpu")
    y = distances()
    values = np.stack([distribution.logpdf(y), distribution.logpdf(-y)])
    mode = 0.0 if alpha < 0.5 else distribution.mode()
    size = np.logspace(-30.0, 40.0, 20_001) if alpha < 1.0 else np.logspace(-6.0, 12.0, 20_001)
    mass = distribution.cdf(mode + size) - distribution.cdf(mode - size)
    return values, np.array([mode, *np.interp(FRACTIONS, mass, size)])


def main() -> None:
    profiles = [tabulate(a, b if a < 2.0 else 0.0) for a in ALPHAS for b in BETAS]
    values, modes_and_distances = map(np.array, zip(*profiles, strict=True))
    assert values.shape == (len(profiles), 2, KNOTS)
    np.savez_compressed(TARGET, values=values.astype(np.float32), places=modes_and_distances)
    print(f"{TARGET}: {values.shape}, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
