"""Tail, area and fast path of Ziggurats (Riesinger 2017, tables 8.1 and 8.2).

The numbers are those of the tables that the generator uses; they are the same on any device.
"""

from __future__ import annotations

from rode._normals.ziggurat.tables import STRIPS, ziggurat
from studies.papers.printed import ZIGGURATS
from studies.study import Study

EDGES = ("strips", "r", "printed r", "v", "printed v")
PATHS = ("strips", "fast path, %", "printed", "diverging warps, %", "printed")


def run(study: Study) -> dict:
    """Tabulate all numbers of strips beside the printed values."""
    tables = {strips: ziggurat(strips) for strips in STRIPS}
    edges = [
        (strips, table.r, ZIGGURATS[strips][0], table.v, ZIGGURATS[strips][1])
        for strips, table in tables.items()
    ]
    paths = [
        (
            *(strips, 100 * table.fast, ZIGGURATS[strips][2]),
            *(100 * table.diverging(), ZIGGURATS[strips][3]),
        )
        for strips, table in tables.items()
    ]
    study.table("Where the tail begins, and area of a strip (table 8.1)", EDGES, edges)
    study.table("Fast path, and warps of which a thread leaves it (table 8.2)", PATHS, paths)
    figure = study.figure((6.0, 4.0))
    axis = figure.subplots()
    for column, name in ((1, "fast path"), (3, "diverging warps")):
        axis.semilogx([row[0] for row in paths], [row[column] for row in paths], "o-", label=name)
    axis.set(xlabel="strips", ylabel="%", ylim=(0, 100))
    axis.legend()
    return {"picture": str(study.save(figure, "ziggurats.png"))}
