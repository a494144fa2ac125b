"""Write stablegpu/data/mcculloch.npz: quantiles of standard distributions over (alpha, beta).

McCulloch (1986) tabulated functions of such quantiles to four digits for alpha >= 0.5. The
quantiles in this table are computed from this package's distribution function to about 1e-12, from
alpha = 0.1 on.
"""

from pathlib import Path

import numpy as np

from stablegpu import stable
from stablegpu._fit.estimators.mcculloch.estimate import PROBABILITIES

ALPHAS = np.round(np.linspace(0.1, 2.0, 77), 3)
BETAS = np.sin(np.linspace(0.0, 0.5 * np.pi, 37))  # ratios of quantiles turn sharply near beta = 1
TARGET = Path(__file__).parents[1] / "stablegpu" / "data" / "mcculloch.npz"


def quantiles(alpha: float, beta: float) -> np.ndarray:
    """Return the quantiles of a standard distribution in S0 at PROBABILITIES."""
    return stable(alpha, beta, parameterization="S0", device="cpu").ppf(np.array(PROBABILITIES))


def main() -> None:
    table = np.array([[quantiles(a, b) for b in BETAS] for a in ALPHAS])
    np.savez_compressed(TARGET, alpha=ALPHAS, beta=BETAS, quantiles=table)
    print(f"{TARGET}: {table.shape}, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
