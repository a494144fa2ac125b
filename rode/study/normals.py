"""Normal numbers: the paper's figures 8.4 to 8.8 and tables 8.2 to 8.4."""

from __future__ import annotations

import numpy as np

import hetero
import rode
from hetero.jit import twin
from hetero.study import Study
from rode.ziggurat import STRIPS, ziggurat


def run(study: Study) -> dict:
    size = 1 << (14 if study.quick else 28 if study.device.kind == "cuda" else 22)
    out = study.empty(size, "float32")
    return {
        "numbers": size,
        "ziggurat": _strips(study, out),
        "grids": _grids(study, out),
        "rational": _rational(study, size),
        "setup": _setup(study),
    }


def _strips(study: Study, out) -> list[dict]:
    """Figures 8.4 and 8.5, table 8.2: rate and divergence over the number of strips."""
    found = []
    for strips in STRIPS[7:9] if study.quick else STRIPS:
        table = ziggurat(strips)
        record = {"strips": strips, "fast": table.fast, "diverging warps": table.diverging()}
        for place in ("shared", "local"):
            record[f"G/s, {place} memory"] = 1e-9 * study.rate(
                lambda s=strips, p=place: rode.normal(
                    method="ziggurat", strips=s, table=p, rng=1, out=out, device=study.device
                ),
                out.size,
            )
        found.append(record)
    rows = [list(r.values()) for r in found]
    study.table("Ziggurat, float32, over the number of strips", list(found[0]), rows)
    figure = study.figure()
    left, right = figure.subplots(1, 2)
    strips = [r["strips"] for r in found]
    for place in ("shared", "local"):
        key = f"G/s, {place} memory"
        left.semilogx(strips, [r[key] for r in found], "o-", label=place, base=2)
    left.set(xlabel="strips", ylabel="G numbers/s", title="rate")
    left.legend()
    diverging = [r["diverging warps"] for r in found]
    right.semilogx(strips, diverging, "o-", base=2)
    right.set(xlabel="strips", ylabel="share", title="warps that leave the fast path")
    study.save(figure, "ziggurat.png")
    return found


def _grids(study: Study, out) -> list[dict]:
    """Figures 8.6 and 8.7: launch shapes (GPU), or numbers of threads (CPU)."""
    direct, key, found = twin("rode._normals", study.device).direct, (np.uint32(1),) * 2, []
    if study.device.kind == "cpu":
        for count in range(1, hetero.threads() + 1):
            with hetero.use_threads(count):
                rate = study.rate(lambda: direct("box-muller", key, 0, 0, out), out.size)
            found.append({"threads": count, "G/s": 1e-9 * rate})
    else:
        for threads in (256,) if study.quick else (64, 128, 256, 512, 1024):
            for blocks in (4, 16) if study.quick else (2, 4, 8, 16, 32, 64):
                rate = study.rate(
                    lambda t=threads, b=blocks: direct("box-muller", key, 0, 0, out, 0, t, b),
                    out.size,
                )
                found.append({"threads": threads, "blocks a multiprocessor": blocks})
                found[-1]["G/s"] = 1e-9 * rate
    rows = [list(r.values()) for r in found]
    study.table("Box-Muller, float32, over launch shapes", list(found[0]), rows)
    return found


def _rational(study: Study, size: int) -> list[dict]:
    """Branching against blending."""
    found = []
    for dtype in ("float32", "float64"):
        out = study.empty(size // 2, dtype)
        record = {"dtype": dtype}
        for method in ("rational", "rational-blending"):
            record[method] = 1e-9 * study.rate(
                lambda m=method, o=out: rode.normal(method=m, rng=1, out=o, device=study.device),
                out.size,
            )
        found.append(record)
    rows = [list(r.values()) for r in found]
    study.table("Rational functions, G/s: branches and blending", list(found[0]), rows)
    return found


def _setup(study: Study) -> dict:
    """Table 8.4: what must be done before the first number, compilation apart."""

    def tables():
        ziggurat.cache_clear()
        ziggurat(256)

    pool = study.empty(1024, "float32")
    found = {
        "Ziggurat, 256 strips, ms": 1e3 / study.rate(tables, 1),
        "Wallace, first pool with its numbers, ms": 1e3
        / study.rate(
            lambda: rode.normal(method="wallace", rng=1, out=pool, device=study.device), 1
        ),
        "Box-Muller, first 1024 numbers, ms": 1e3
        / study.rate(lambda: rode.normal(rng=1, out=pool, device=study.device), 1),
    }
    study.table("Setup", ("what", "ms"), list(found.items()))
    return found
