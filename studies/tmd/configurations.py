"""Configurations of two lengths (Fortin, Gouicem and Graillat 2016, table 1 and figure 3).

The multiples 0, a, 2 a, .. of a = 14/45 divide the circle of length 1 into intervals of at most
three lengths. The numbers of points with two lengths, and the lengths, follow from the continued
fraction of a; each is compared with the points themselves.
"""

from __future__ import annotations

from typing import NamedTuple

from studies.study import Study

NUMERATOR, DENOMINATOR = 14, 45


class Configuration(NamedTuple):
    """Two lengths and how many intervals have them; lengths are in units of 1/45.

    There are `q` intervals of length `long` and `q_before` of length `theta`.
    """

    i: int
    t: int
    q_before: int
    q: int
    long: int
    theta: int


def run(study: Study) -> dict:
    """Print the configurations, draw them, and compare each with the points."""
    found = list(configurations(NUMERATOR, DENOMINATOR))
    rows = []
    for c in found:
        points = c.q + c.q_before
        lengths = lengths_of(points, NUMERATOR, DENOMINATOR)
        expected = sorted([c.long] * c.q + [c.theta] * c.q_before)
        rows.append((*c, points, "yes" if lengths == expected else "no"))
    heads = ("i", "t", "q_(i-1,t)", "q_i", "theta_(i-1,t)", "theta_i", "points", "as the points")
    title = f"Configurations of two lengths, a = {NUMERATOR}/{DENOMINATOR}, lengths times 45"
    study.table(title, heads, rows)
    figure = study.figure((8.0, 5.0))
    axes = figure.subplots()
    for height, c in enumerate(found):
        count = c.q + c.q_before
        places = [x * NUMERATOR % DENOMINATOR for x in range(count)] + [DENOMINATOR]
        axes.plot(places, [-height] * len(places), "|-", color="C0")
        axes.text(DENOMINATOR + 1, -height, f"({c.i}, {c.t})", va="center")
    axes.set(xlabel="45 (a x mod 1)", yticks=[])
    study.save(figure, "tmd-configurations.png")
    return {"agree": all(row[-1] == "yes" for row in rows), "configurations": len(rows)}


def configurations(numerator: int, denominator: int) -> list[Configuration]:
    """Return all configurations of two lengths, until a remainder of Euclid's algorithm is 0."""
    found = []
    theta_before, theta, q_before, q, i = denominator, numerator, 0, 1, 0
    while theta > 0:
        quotient = theta_before // theta
        for t in range(quotient):
            long = theta_before - t * theta
            found.append(Configuration(i, t, q_before + t * q, q, long, theta))
        theta_before, theta = theta, theta_before - quotient * theta
        q_before, q, i = q, q_before + quotient * q, i + 1
    return found


def lengths_of(points: int, numerator: int, denominator: int) -> list[int]:
    """Return the sorted lengths between the first points on the circle."""
    places = sorted(x * numerator % denominator for x in range(points))
    ends = [*places[1:], denominator]
    return sorted(end - place for place, end in zip(places, ends, strict=True))
