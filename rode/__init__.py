"""Random ordinary differential equations: normal numbers, Ornstein-Uhlenbeck paths, solvers."""

from hetero.lazy import lazy_attributes
from hetero.version import VERSION as __version__

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "rode.averages": ("average", "double_average", "riemann_sums"),
        "rode.functionals": ("Process",),
        "rode.normals": ("Generator", "normal"),
        "rode.ornstein": ("ornstein_uhlenbeck",),
        "rode.problems": (
            *("Problem", "additive", "growth", "kanai_tajimi", "relaxation", "separable"),
        ),
        "rode.montecarlo": ("Quantiles", "Result", "solve"),
        "rode.parts": ("solve_in_parts",),
    },
    modules=("parts", "scalars"),
)
__all__ += ["__version__"]
