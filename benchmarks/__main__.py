"""Run suites of measurements: `python -m benchmarks run SUITE [--device cuda] [--json FILE]`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

import hetero
from benchmarks.measurements import Measurement, report, write_record

SUITES = {
    "hetero": "benchmarks.hetero",
    "first-calls": "benchmarks.first_calls",
    "stable": "benchmarks.stablegpu_density",
    "stable-calls": "benchmarks.stablegpu_calls",
    "fit": "benchmarks.stablegpu_fit",
    "fit-scipy": "benchmarks.stablegpu_fit_scipy",
    "fit-rounded": "benchmarks.stablegpu_rounded",
    "fit-regressions": "benchmarks.stablegpu_regressions",
    "special": "benchmarks.stablegpu_special",
    "rode": "benchmarks.rode",
    "lbm": "benchmarks.lbm",
    "lbm-channels": "benchmarks.lbm_channels",
    "lbm-flows": "benchmarks.lbm_flows",
    "lbm-moments": "benchmarks.lbm_moments",
    "lbm-moments-float16": "benchmarks.lbm_moments_float16",
    "lbm-moments-devices": "benchmarks.lbm_moments_devices",
    "lbm-spheres": "benchmarks.lbm_spheres",
    "lbm-peers": "benchmarks.lbm_cpu_peers",
    "sbth": "benchmarks.sbth",
    "sbth-full": "benchmarks.sbth_full",
    "sbth-vectors": "benchmarks.sbth_vectors",
    "sbth-batches": "benchmarks.sbth_batches",
    "sbth-eigsh": "benchmarks.sbth_eigsh",
    "tmd": "benchmarks.tmd",
    "tmd-tests": "benchmarks.tmd_boolean_tests",
}


def _collect(figures: Iterable[Measurement]) -> list[Measurement]:
    """Return all figures; those of a suite that takes long are printed as they are measured."""
    if isinstance(figures, list):
        return figures
    collected = []
    for figure in figures:
        peers = "".join(f", {name} {value:.4g}" for name, value in figure.peers.items())
        print(
            f"{figure.name}: {figure.value:.4g} {figure.unit}{peers}", file=sys.stderr, flush=True
        )
        collected.append(figure)
    return collected


def main(argv: list[str] | None = None) -> None:
    """Run the suites that the command line names, print their figures and write the records."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("verb", choices=["run"])
    parser.add_argument("suite", choices=[*SUITES, "all"])
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="the record's file; for `all`, a folder")
    parser.add_argument("--quick", action="store_true", help="use small sizes, for the tests")
    options = parser.parse_args(argv)

    device = hetero.resolve(options.device)
    for suite in SUITES if options.suite == "all" else [options.suite]:
        figures = _collect(importlib.import_module(SUITES[suite]).run(device, options.quick))
        report(suite, device, figures)
        if options.json:
            name = f"{suite}-{device.kind}.json"
            target = options.json / name if options.suite == "all" else options.json
            measured = [figure.as_dict() for figure in figures]
            write_record(
                target,
                suite,
                device,
                ["benchmarks", *(sys.argv[1:] if argv is None else argv)],
                figures=measured,
            )


if __name__ == "__main__":
    main()
