"""Random ordinary differential equations: normal numbers, Ornstein-Uhlenbeck paths, solvers."""

from hetero.lazy import lazy_attributes
from hetero.moved import redirect_modules
from hetero.version import VERSION as __version__

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "rode.averages": ("average", "double_average", "riemann_sums"),
        "rode.process": ("Process",),
        "rode.normals": ("Generator", "normal"),
        "rode.paths": ("ornstein_uhlenbeck",),
        "rode.problems": (
            *("Problem", "additive", "growth", "kanai_tajimi", "relaxation", "separable"),
        ),
        "rode.results": ("Quantiles", "Result"),
        "rode.solving": ("solve",),
        "rode.parts": ("solve_in_parts",),
    },
    modules=("parts", "scalars"),
)
__all__ += ["__version__"]

redirect_modules(
    {
        "rode.functionals": "rode.process",
        "rode.montecarlo": "rode.solving",
        "rode.ornstein": "rode.paths",
        "rode.schemes": "rode._solver.schemes",
        "rode.stability": "rode._solver.stability",
        "rode.ziggurat": "rode._normals.ziggurat.tables",
    }
)
