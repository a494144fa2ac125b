"""Boolean tests of the sub-domains on all vector lanes of a CPU core, for phase 1."""

from __future__ import annotations

from collections.abc import Callable

from hetero.jit import scalar
from tmd._search.formulas.division_formulas import floor
from tmd._search.formulas.line_formulas import LANES, fraction_as_float


@scalar
def _regular_lanes(p, q, d, u, v, count, distance):
    """Run the regular test on all lanes at once; store the final d in `distance`.

    All arguments but count are float64 (LANES,) and are overwritten. Finished lanes keep
    computing; their results are ignored, so there is no branch.
    """
    for l in range(LANES):
        distance[l] = d[l] if p[l] <= 0.0 else -1.0
    running = True
    while running:
        running = False
        unfinished = 0.0
        for l in range(LANES):
            P, Q, D, U, V = p[l], q[l], d[l], u[l], v[l]
            k, m = floor(Q / P), floor(D / P)
            Q -= k * P
            D -= m * P
            U += k * V
            ends_on_q = (U + V >= count) | (Q <= 0.0)
            k = floor(P / Q)
            P -= k * Q
            V += k * U
            x = D - P
            y = x - floor(x / Q) * Q
            y = y if x >= 0.0 else D
            last = D if ends_on_q else y
            finished = ends_on_q | (U + V >= count) | (P <= 0.0)
            old = distance[l]
            new = last if (old < 0.0) & finished else old
            distance[l] = new
            unfinished += 1.0 if new < 0.0 else 0.0
            p[l], q[l], d[l], u[l], v[l] = P, Q, y, U, V
        running = unfinished > 0.0


def make_vector_row(test: Callable, is_clipped: bool) -> Callable:
    """Make the tests of `LANES` sub-domains by vectors, with the regular test.

    Where it fails, the clipped test decides if that is the one asked for.
    """

    @scalar
    def test_row(a, b, work, count, bound, failed):
        for l in range(LANES):
            work[0, l] = fraction_as_float(a[l])
            work[2, l] = fraction_as_float(b[l])
            work[1, l] = 2.0**52
            work[3, l] = 0.0
            work[4, l] = 1.0
        _regular_lanes(work[0], work[1], work[2], work[3], work[4], count, work[5])
        for l in range(LANES):
            failed[l] = work[5, l] <= bound
            if is_clipped and failed[l]:
                failed[l] = test(fraction_as_float(a[l]), fraction_as_float(b[l]), count, bound)[0]

    return test_row


def make_row(test: Callable, read: Callable) -> Callable:
    """Make the tests of `LANES` sub-domains, one by one."""

    @scalar
    def test_row(a, b, work, count, bound, failed):
        for l in range(LANES):
            failed[l] = test(read(a[l]), read(b[l]), count, bound)[0]

    return test_row
