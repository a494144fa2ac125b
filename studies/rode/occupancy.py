"""Occupancies of rode's kernels, computed from registers, shared memory and launch shapes.

These are figure 8.5 and tables 12.1 and 12.2 of Riesinger (2017), as far as they are about
occupancy. No GPU is needed: the kernels are compiled for an H200 (compute capability 9.0). Their
registers are used for the limits of 3.5 (Tesla K40m) and 6.0 (P100) too, for which the compiler no
longer makes code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import rode
from hetero.cuda.resources import Resources, compile_resources
from rode._normals import cuda as normals
from rode._normals.wallace.pool_shape import POOL_SHAPE
from rode._normals.ziggurat import cuda as ziggurat
from rode._normals.ziggurat.tables import STRIPS
from rode._paths import cuda as paths
from rode._paths.averages import cuda as averages
from rode._paths.tiles import ROUNDS, block
from rode._solver import cuda as solver
from studies.hetero.occupancy import LIMITS, WARP, Occupancy, occupancy
from studies.rode.kernels import averages_kernel, normals_kernel, process_kernel, solver_kernel
from studies.study import Study

PUBLISHED_THREADS = (32, 64, 128, 256, 512)
"""Threads of a block in figures 8.4 and 8.5; the grids there have 2^16 threads."""

PUBLISHED = {
    ("ziggurat", "float32"): (64, 0.16),
    ("long", "float32"): (1024, 0.5),
    ("long", "float64"): (512, 0.5),
    ("single average", "float32"): (256, 1.0),
    ("single average", "float64"): (256, 1.0),
    ("three sums", "float32"): (128, 0.86),
    ("three sums", "float64"): (128, 0.56),
}
"""Threads of a block, and theoretical occupancy, on a Tesla K40m (tables 12.1 and 12.2).

They belong to the kernels there that correspond; "long" to the first of the three scans."""

BLOCK_SIZES = (32, 64, 128, 256, 512, 1024)
SCHEMES = ("averaged-euler", "averaged-heun", "3-rode-taylor", "4-rode-taylor")


class Part(NamedTuple):
    """A kernel as it is launched.

    Attributes
    ----------
    name : what it computes
    dtype : the numbers' type
    threads : threads of a block
    elements : elements that a thread computes in a round; None where that depends on the call
    resources : of the compiled kernel
    dynamic : bytes of shared memory that are asked for at the launch
    """

    name: str
    dtype: str
    threads: int
    elements: int | None
    resources: Resources
    dynamic: int = 0

    def occupancy(self, capability: tuple[int, int], threads: int | None = None) -> Occupancy:
        """Return the occupancy with the launch's block size, or with another one."""
        return occupancy(
            capability,
            threads=threads or self.threads,
            registers=self.resources.registers,
            shared_memory=self.resources.shared_memory + self.dynamic,
        )


def run(study: Study) -> dict:
    """Tabulate the occupancies of the Ziggurat over the strips, and of the solver's parts."""
    dtypes = ("float32",) if study.quick else ("float32", "float64")
    parts = [part for dtype in dtypes for part in make_parts(dtype, study.quick)]
    return {
        "ziggurat": _strips(study, dtypes),
        "parts": _launches(study, parts),
        "block sizes": _block_sizes(study, parts),
    }


def table_size(strips: int, dtype: str) -> int:
    """Return the bytes of a Ziggurat's table, which has an edge more than strips."""
    return (strips + 1) * np.dtype(dtype).itemsize


def _name(capability: tuple[int, int]) -> str:
    return ".".join(map(str, capability))


def _strips(study: Study, dtypes: tuple[str, ...]) -> list[dict]:
    """Tabulate figure 8.5: occupancies over the strips, for each launch shape."""
    records: list[dict[str, Any]] = []
    own = ziggurat.THREADS
    compiled = {
        (dtype, memory): compile_resources(
            *normals_kernel("ziggurat, local" if memory == "local" else "ziggurat", dtype)
        )
        for dtype in dtypes
        for memory in ("local", "shared")
    }
    for capability in LIMITS:
        for (dtype, memory), resources in compiled.items():
            for strips in STRIPS:
                part = Part("ziggurat", dtype, own, None, resources)
                if memory == "shared":
                    part = part._replace(dynamic=table_size(strips, dtype))
                record: dict[str, Any] = {"compute capability": _name(capability)}
                record["dtype"] = dtype
                record |= {"table": memory, "strips": strips}
                for threads in PUBLISHED_THREADS:
                    record[f"{threads} threads"] = part.occupancy(capability, threads).share
                records.append(record)
    rows = [list(r.values()) for r in records]
    study.table("Occupancy of the Ziggurat over the number of strips", list(records[0]), rows)
    _draw(study, records)
    return records


def _draw(study: Study, records: list[dict]) -> None:
    """Draw the occupancies of float32 numbers, a panel for each GPU and memory of the table."""
    figure = study.figure((10.0, 5.5))
    axes = figure.subplots(2, len(LIMITS), sharex=True, sharey=True)
    for column, capability in enumerate(LIMITS):
        for row, memory in enumerate(("local", "shared")):
            chosen = [
                r
                for r in records
                if (r["compute capability"], r["dtype"], r["table"])
                == (_name(capability), "float32", memory)
            ]
            strips = [r["strips"] for r in chosen]
            for threads in PUBLISHED_THREADS:
                shares = [r[f"{threads} threads"] for r in chosen]
                axes[row, column].semilogx(strips, shares, ".-", base=2, label=f"{threads} threads")
            axes[row, column].set_title(f"{_name(capability)}, table in {memory} memory", size=9)
    for ax in axes[1]:
        ax.set_xlabel("strips")
    for ax in axes[:, 0]:
        ax.set_ylabel("occupancy")
    axes[0, 0].legend(fontsize=7)
    study.save(figure, "rode-occupancy.png")


def make_parts(dtype: str, quick: bool = False) -> Iterator[Part]:
    """Yield the kernels of the solver's parts with the launch shapes that rode gives them."""
    for method, threads, elements in (
        ("ziggurat", ziggurat.THREADS, 2 * block(dtype)),
        ("wallace", POOL_SHAPE.threads, 4),
        ("rational-blending", normals.THREADS, 2 * block(dtype)),
        ("box-muller", normals.THREADS, 2 * block(dtype)),
    )[: 1 if quick else None]:
        dynamic = table_size(1024, dtype) if method == "ziggurat" else 0
        resources = compile_resources(*normals_kernel(method, dtype))
        yield Part(method, dtype, threads, elements, resources, dynamic)
    for name in ("long",) if quick else ("long", "scan", "bridge"):
        resources = compile_resources(*process_kernel(name, dtype))
        yield Part(name, dtype, paths.THREADS, ROUNDS * block(dtype), resources)
    sums = ("single average", "two sums", "three sums", "four sums")
    for count, name in enumerate(sums[: 1 if quick else None], 1):
        resources = compile_resources(*averages_kernel(dtype, count))
        yield Part(name, dtype, averages.THREADS, None, resources)
    problem = rode.kanai_tajimi(outputs=("acceleration",))
    for scheme in SCHEMES[: 1 if quick else None]:
        resources = compile_resources(*solver_kernel(problem, scheme, "path", dtype))
        yield Part(f"solver, {scheme}", dtype, solver.THREADS, None, resources)


def _launches(study: Study, parts: list[Part]) -> list[dict]:
    """Tabulate launch shapes and occupancies of the parts (tables 12.1 and 12.2)."""
    records: list[dict[str, Any]] = []
    for part in parts:
        record: dict[str, Any] = {"part": part.name, "dtype": part.dtype}
        record |= {"threads a block": part.threads, "elements a thread": part.elements}
        record |= {"registers": part.resources.registers}
        record |= {"shared memory, bytes": part.resources.shared_memory + part.dynamic}
        for capability in LIMITS:
            record[f"occupancy on {_name(capability)}"] = part.occupancy(capability).share
        record["limited on 9.0 by"] = ", ".join(part.occupancy((9, 0)).limited_by)
        threads, share = PUBLISHED.get((part.name, part.dtype), (None, None))
        record |= {"K40m, threads (Riesinger 2017)": threads, "K40m, occupancy": share}
        records.append(record)
    title = "Launch shapes and occupancies of the parts; Ziggurat with 1024 strips"
    study.table(title, list(records[0]), [list(r.values()) for r in records])
    return records


def _block_sizes(study: Study, parts: list[Part]) -> list[dict]:
    """Tabulate occupancies on an H200 over the threads of a block.

    Kernels with static shared memory are left out, because its size belongs to one block size.
    """
    records: list[dict[str, Any]] = []
    for part in parts:
        if part.resources.shared_memory:
            continue
        shares = [part.occupancy((9, 0), threads).share for threads in BLOCK_SIZES]
        record: dict[str, Any] = {"part": part.name, "dtype": part.dtype}
        record |= {f"{t} threads": share for t, share in zip(BLOCK_SIZES, shares, strict=True)}
        best = [t for t, share in zip(BLOCK_SIZES, shares, strict=True) if share == max(shares)]
        record["best threads"] = ", ".join(map(str, best))
        records.append(record)
    title = f"Occupancy on 9.0 over the threads of a block, {WARP} of them a warp"
    study.table(title, list(records[0]), [list(r.values()) for r in records])
    return records
