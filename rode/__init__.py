"""Random ordinary differential equations: normal numbers, Ornstein-Uhlenbeck paths, solvers."""

import importlib

# Found at first use, so that importing the package costs nothing.
_FUNCTIONS = {
    "rode.averages": ("average", "double_average", "riemann_sums"),
    "rode.functionals": ("Process",),
    "rode.normals": ("Generator", "normal"),
    "rode.ornstein": ("ornstein_uhlenbeck",),
    "rode.problems": ("Problem", "additive", "growth", "kanai_tajimi", "relaxation", "separable"),
    "rode.montecarlo": ("Quantiles", "Result", "solve"),
    "rode.parts": ("solve_in_parts",),
}
_MODULE_OF = {name: module for module, names in _FUNCTIONS.items() for name in names}

_MODULES = ("parts", "scalars")

__all__ = [*_MODULE_OF, *_MODULES]

__version__ = "0.1.0"


def __getattr__(name: str):
    if name in _MODULES:
        return importlib.import_module(f"rode.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'rode' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)
