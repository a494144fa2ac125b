"""Random ordinary differential equations: normal numbers, Ornstein-Uhlenbeck paths, solvers."""

from typing import TYPE_CHECKING

from hetero.compile_cache.sources import register
from hetero.public_names.lazy import lazy_attributes
from hetero.public_names.moved import redirect_modules
from hetero.version import VERSION as __version__

register(__name__, __path__[0])

if TYPE_CHECKING:  # what `__getattr__` finds, for type checkers
    from rode import parts as parts
    from rode import scalars as scalars
    from rode.averages import average as average
    from rode.averages import double_average as double_average
    from rode.averages import riemann_sums as riemann_sums
    from rode.normals import Generator as Generator
    from rode.normals import normal as normal
    from rode.parts import solve_in_parts as solve_in_parts
    from rode.paths import ornstein_uhlenbeck as ornstein_uhlenbeck
    from rode.peaks import peak_correction as peak_correction
    from rode.problems import Problem as Problem
    from rode.problems import additive as additive
    from rode.problems import separable as separable
    from rode.process import Process as Process
    from rode.results import Output as Output
    from rode.results import Quantiles as Quantiles
    from rode.results import Result as Result
    from rode.results import Work as Work
    from rode.solving import solve as solve
    from rode.standard_problems import growth as growth
    from rode.standard_problems import kanai_tajimi as kanai_tajimi
    from rode.standard_problems import relaxation as relaxation

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "rode.averages": ("average", "double_average", "riemann_sums"),
        "rode.process": ("Process",),
        "rode.normals": ("Generator", "normal"),
        "rode.paths": ("ornstein_uhlenbeck",),
        "rode.peaks": ("peak_correction",),
        "rode.problems": ("Problem", "additive", "separable"),
        "rode.standard_problems": ("growth", "kanai_tajimi", "relaxation"),
        "rode.results": ("Output", "Quantiles", "Result", "Work"),
        "rode.solving": ("solve",),
        "rode.parts": ("solve_in_parts",),
    },
    modules=("parts", "scalars"),
)
__all__ += ["__version__"]

redirect_modules(
    {
        "rode.functionals": "rode._solver.path_sums",
        "rode.montecarlo": "rode.solving",
        "rode.ornstein": "rode.paths",
        "rode.schemes": "rode._solver.schemes",
        "rode.stability": "rode._solver.stability",
        "rode.ziggurat": "rode._normals.ziggurat.tables",
    }
)
