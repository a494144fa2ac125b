"""The choice between Lanczos and a reduction, by a forecast of their costs."""

from __future__ import annotations

import math

from hetero.devices import CPU
from hetero.errors import format_bytes
from hetero.memory import free_bytes
from sbth._lanczos.arguments import Arguments
from sbth._lanczos.band import NarrowedMatrix, has_known_indices
from sbth._lanczos.problem import SparseProblem
from sbth._problem.limits import LANCZOS_ORDER
from sbth._problem.problem import Problem
from sbth._problem.selection import Selection
from sbth._route.route import Route, route
from sbth._tridiagonal.inverse_iteration.layout import BYTES_AN_ELEMENT
from sbth._tridiagonal.inverse_iteration.selected_pairs import is_suitable
from sbth.results import EigshForecast

DIGITS = 9.0
"""Products, in units of n / (d sqrt(k)), for 16 digits: log(1 / eps) / 4."""

RATES = {"product": 0.6e9, "basis": 1.5e9, "band": 2.0e9, "full": 12e9}
"""Multiply-adds in a second of products with sparse matrices, of orthogonalization, of the
reduction of a band, and of that of a full matrix: orders of magnitude for one or two cores, with
which forecasts and times of ten problems (n = 900 to 3600) agreed within a factor of 4."""

CALLS = 4e-5
"""Seconds that the calls of a Lanczos step take beside their work."""


def choose_method(
    problem: SparseProblem, arguments: Arguments, method: str, vectors: bool
) -> tuple[EigshForecast, NarrowedMatrix | None]:
    """Choose "lanczos" or "band", and say why; also return the matrix that a reduction takes.

    Raises
    ------
    TypeError
        method="band" is asked for, and there is no matrix in host memory.
    """
    n = problem.order
    if method == "lanczos":
        return EigshForecast("lanczos", "method='lanczos' was requested", n), None
    if not problem.is_on_host:
        location = "an operator" if problem.kind == "operator" else f"on {problem.device}"
        if method == "band":
            raise TypeError(
                "method='band' requires a matrix in host memory and the CPU, but a is "
                f"{location}: use method='lanczos'"
            )
        return EigshForecast("lanczos", f"a is {location}, where only Lanczos runs", n), None
    narrowed = NarrowedMatrix.of(problem)
    width, way = narrowed.bandwidth, _route_of(narrowed, problem, arguments.k, vectors)
    lanczos = forecast_lanczos(problem, arguments, width)
    band = forecast_reduction(arguments, way)
    figures = n, width, lanczos, band
    kind = (
        "full matrix" if narrowed.is_wide else f"band with {width} subdiagonal{'s' * (width != 1)}"
    )
    if method == "band":
        return EigshForecast("band", "method='band' was requested", *figures), narrowed
    if n <= LANCZOS_ORDER:
        reason = f"an order of at most {LANCZOS_ORDER} is solved at once, as a {kind}"
        return EigshForecast("band", reason, *figures), narrowed
    need = memory_of_reduction(arguments.k, way)
    if need > free_bytes(problem.device, need):
        reason = f"a reduction would take {format_bytes(need)}, more than is free"
        return EigshForecast("lanczos", reason, *figures), None
    chosen = "band" if band < lanczos else "lanczos"
    reason = (
        f"by the forecast Lanczos takes {lanczos:.2g} s, and a reduction as a {kind} {band:.2g} s"
    )
    return EigshForecast(chosen, reason, *figures), narrowed if chosen == "band" else None


def forecast_products(n: int, arguments: Arguments, bandwidth: int) -> float:
    """Return about how many products with vectors thick-restart Lanczos takes, copies included.

    A matrix whose band has d subdiagonals after a permutation is like a grid that is n / d long.
    Its smoothest modes differ by about k (d / n)^2 of the largest eigenvalue, from which the
    Chebyshev bound (Saad 2011, section 6.6) gives DIGITS n / (d sqrt(k)) products. The search for
    missed copies takes as many again.
    """
    k, length = arguments.k, n / max(bandwidth, 1)
    return 2.0 * (arguments.size + k + DIGITS * length / math.sqrt(k))


def forecast_lanczos(problem: SparseProblem, arguments: Arguments, bandwidth: int) -> float:
    """Return about how many seconds Lanczos takes on a CPU."""
    n, k, size = problem.order, arguments.k, arguments.size
    orthogonalization = 2.0 * n * (k + 0.75 * size) / RATES["basis"]
    if arguments.sigma is not None:
        width = min(bandwidth, n)
        solve = 2.0 * n * width / RATES["product"]
        factorization = n * float(width) ** 2 / RATES["full"]
        return factorization + 2.0 * (size + k) * (CALLS + solve + orthogonalization)
    product = problem.products / RATES["product"]
    return forecast_products(n, arguments, bandwidth) * (CALLS + product + orthogonalization)


def _route_of(narrowed: NarrowedMatrix, sparse: SparseProblem, k: int, vectors: bool) -> Route:
    """Return the way on which a reduction computes k eigenpairs."""
    form, n = "full" if narrowed.is_wide else "band", sparse.order
    selection = Selection("i", 0, k - 1)
    return route(
        Problem(form, (), n, narrowed.bandwidth, sparse.dtype, True, selection, vectors, CPU)
    )


def forecast_reduction(arguments: Arguments, way: Route) -> float:
    """Return about how many seconds a reduction of the matrix takes on a CPU."""
    n, width, vectors = way.problem.order, way.problem.width, way.problem.vectors
    k, is_known = arguments.k, has_known_indices(arguments.which, arguments.sigma)
    bisection = 60.0 * n * (k if is_known else n) / RATES["band"]
    if width <= 1 and vectors and is_suitable(n, k, CPU):
        return bisection + 60.0 * n * k / RATES["band"]
    if way.works_on_full:
        return (2.0 / 3.0 * n**3 + (2.0 * n * n * k if vectors else 0.0)) / RATES["full"]
    reduction = 3.0 * n * n * width / RATES["band"] if width > 1 else 0.0
    if not vectors:
        return reduction + bisection
    return reduction + n**3 / 3.0 / RATES["full"] + 2.0 * n * n * k / RATES["band"]


def memory_of_reduction(k: int, way: Route) -> int:
    """Return the bytes that a reduction needs."""
    n, width, vectors = way.problem.order, way.problem.width, way.problem.vectors
    item = way.problem.dtype.itemsize
    if way.problem.form == "band" and (not vectors or (width <= 1 and is_suitable(n, k, CPU))):
        return 3 * n * (width + 1) * item + (BYTES_AN_ELEMENT * n * k if vectors else 0)
    return n * n * max(way.memory(), 2 * item)  # with the matrix and a copy of it
