"""Repeat experiments of the literature on this machine."""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import json
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from hetero.command_line import check_outputs, command_parser, run_command, save_output
from hetero.devices import Device, resolve
from hetero.display.progress_bar import progress
from hetero.measurement import environment
from hetero.validation import check_choice, check_integer, check_positive
from studies.study import Study
from studies.times import DONE, StudyTimes, package_of

STUDIES = {
    "hetero-devices": "studies.hetero.devices",
    "hetero-parts": "studies.hetero.parts",
    "hetero-profiles": "studies.hetero.profiles",
    "lbm-blocks": "studies.lbm.blocks",
    "lbm-bodies": "studies.lbm.bodies",
    "lbm-cavity": "studies.lbm.cavity",
    "lbm-clusters": "studies.lbm.clusters",
    "lbm-cuboids": "studies.lbm.cuboids",
    "lbm-cylinder": "studies.lbm.cylinder",
    "lbm-domains": "studies.lbm.domains",
    "lbm-features": "studies.lbm.features",
    "lbm-gallery": "studies.lbm.gallery",
    "lbm-hybrid": "studies.lbm.hybrid",
    "lbm-hybrid-auto": "studies.lbm.hybrid_auto",
    "lbm-lattices": "studies.lbm.lattices",
    "lbm-magic": "studies.lbm.magic",
    "lbm-moving-bodies": "studies.lbm.moving_bodies",
    "lbm-operators": "studies.lbm.operators",
    "lbm-published": "studies.lbm.published",
    "lbm-reflections": "studies.lbm.reflections",
    "lbm-shedding": "studies.lbm.shedding",
    "lbm-sphere": "studies.lbm.sphere",
    "lbm-stability": "studies.lbm.stability",
    "lbm-states": "studies.lbm.states",
    "lbm-strong": "studies.lbm.strong",
    "lbm-tunnel-drags": "studies.lbm.tunnel_drags",
    "lbm-tunnels": "studies.lbm.tunnels",
    "lbm-wall-model": "studies.lbm.wall_model",
    "lbm-walls": "studies.lbm.walls",
    "lbm-weak": "studies.lbm.weak",
    "rode-convergence": "studies.rode.convergence",
    "rode-drift": "studies.rode.drift",
    "rode-excitations": "studies.rode.excitations",
    "rode-expectation": "studies.rode.expectation",
    "rode-laws": "studies.rode.laws",
    "rode-multilevel": "studies.rode.multilevel",
    "rode-nonlinear": "studies.rode.nonlinear_noise",
    "rode-normals": "studies.rode.normals",
    "rode-occupancy": "studies.rode.occupancy",
    "rode-passage": "studies.rode.passage",
    "rode-paths": "studies.rode.paths",
    "rode-peaks": "studies.rode.peaks",
    "rode-quality": "studies.rode.quality",
    "rode-scaling": "studies.rode.scaling",
    "rode-solver": "studies.rode.solver",
    "rode-spectra": "studies.rode.spectra",
    "rode-subsets": "studies.rode.subsets",
    "rode-variance": "studies.rode.variance",
    "rode-ziggurats": "studies.rode.ziggurats",
    "sbth-blocks": "studies.sbth.blocks",
    "sbth-comparison": "studies.sbth.comparison",
    "sbth-counts": "studies.sbth.counts",
    "sbth-operations": "studies.sbth.operations",
    "sbth-pipeline": "studies.sbth.pipeline",
    "sbth-plane": "studies.sbth.plane",
    "stablegpu-accuracy": "studies.stablegpu.accuracy",
    "stablegpu-coverage": "studies.stablegpu.coverage",
    "stablegpu-fit": "studies.stablegpu.fits",
    "stablegpu-generator": "studies.stablegpu.generator",
    "stablegpu-map": "studies.stablegpu.error_maps",
    "stablegpu-maxima": "studies.stablegpu.maxima",
    "stablegpu-published": "studies.stablegpu.published",
    "stablegpu-random": "studies.stablegpu.random_points",
    "stablegpu-rate": "studies.stablegpu.rates",
    "stablegpu-regression": "studies.stablegpu.regressions",
    "stablegpu-special": "studies.stablegpu.special_functions",
    "stablegpu-stream": "studies.stablegpu.streams",
    "stablegpu-threads": "studies.stablegpu.thread_rates",
    "tmd-binades": "studies.tmd.binades",
    "tmd-c-libraries": "studies.tmd.c_libraries",
    "tmd-configurations": "studies.tmd.configurations",
    "tmd-divergence": "studies.tmd.divergence",
    "tmd-exhaustive": "studies.tmd.exhaustive",
    "tmd-generation": "studies.tmd.generation",
    "tmd-periodic": "studies.tmd.periodic",
    "tmd-phases": "studies.tmd.phases",
    "tmd-tests": "studies.tmd.rates",
    "tmd-truncation": "studies.tmd.truncation",
    "tmd-windows": "studies.tmd.windows",
}
"""Modules of the studies, by the names that the command line takes."""

NOT_IN_ALL = ("hetero-profiles", "stablegpu-stream", "lbm-cylinder", "lbm-sphere")
"""Studies that `all` leaves out: the first needs NVIDIA's profiler and the right to use it, the
second much room on a disk, the others a day on a CPU."""

ON_GPUS_ONLY = ("hetero-devices", "lbm-hybrid", "lbm-hybrid-auto")
"""Studies that `all` leaves out on a CPU."""

ON_CPUS_ONLY = ("sbth-plane", "stablegpu-threads", "tmd-c-libraries")
"""Studies that `all` leaves out on a GPU."""

DURATIONS = {
    "hetero-devices": "GPU only",
    "hetero-parts": "minutes",
    "hetero-profiles": "GPU only",
    "lbm-bodies": "minutes",
    "lbm-domains": "> 5 min",
    "lbm-gallery": "minutes",
    "lbm-hybrid": "GPU only",
    "lbm-hybrid-auto": "GPU only",
    "lbm-lattices": "minutes",
    "lbm-magic": "minutes",
    "lbm-moving-bodies": "minutes",
    "lbm-operators": "minutes",
    "lbm-published": "minutes",
    "lbm-shedding": "> 5 min",
    "lbm-stability": "> 5 min",
    "lbm-states": "minutes",
    "lbm-cylinder": "days",
    "lbm-sphere": "days",
    "lbm-tunnel-drags": "> 5 min",
    "lbm-tunnels": "> 5 min",
    "lbm-wall-model": "> 5 min",
    "rode-convergence": "minutes",
    "rode-drift": "minutes",
    "rode-expectation": "> 5 min",
    "rode-laws": "minutes",
    "rode-multilevel": "minutes",
    "rode-passage": "minutes",
    "rode-subsets": "minutes",
    "sbth-comparison": "minutes",
    "sbth-plane": "minutes",
    "stablegpu-coverage": "> 5 min",
    "stablegpu-fit": "minutes",
    "stablegpu-map": "minutes",
    "stablegpu-maxima": "> 5 min",
    "stablegpu-published": "minutes",
    "stablegpu-random": "> 5 min",
    "stablegpu-rate": "minutes",
    "stablegpu-regression": "minutes",
    "stablegpu-stream": "minutes",
    "stablegpu-threads": "minutes",
    "tmd-binades": "minutes",
    "tmd-c-libraries": "> 5 min",
    "tmd-divergence": "minutes",
    "tmd-exhaustive": "minutes",
    "tmd-periodic": "minutes",
    "tmd-phases": "minutes",
    "tmd-tests": "minutes",
    "tmd-truncation": "minutes",
    "tmd-windows": "minutes",
}
"""Time that studies take on two cores of a CPU with compiled code at hand, if not below a minute.

They were measured beside other work, and most of those of minutes were stopped after two and a
half: how long they take is not known. Records have the seconds of their study.
"""

_EXAMPLES = (
    ("list", "the names of all studies"),
    ("run lbm-weak lbm-strong", "scaling over the ranks and GPUs of this machine"),
    ("run stablegpu-random --processes 8", "errors at random points, by an independent oracle"),
    ('run "thesis table 6.3"', "the study that makes a table of a paper; see `papers`"),
    ("all --quick", "all of them at tiny sizes"),
    ("all rode sbth --device cuda", "those of two packages that have no record of this commit"),
    (
        "all lbm --papers --minutes 8",
        "those behind the papers' tables, as many as fit in 8 minutes",
    ),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("studies", __doc__ or "", _EXAMPLES)
    verbs = parser.add_subparsers(required=True, metavar="run|list|all|papers")
    run = verbs.add_parser("run", help="run studies, by name or by the number of a table or figure")
    run.add_argument("names", nargs="+", metavar="NAME", help="see `list` and `papers`")
    everything = verbs.add_parser(
        "all",
        help="run all studies that this device can run and that have no record of this commit",
    )
    everything.add_argument(
        "packages",
        nargs="*",
        metavar="PACKAGE",
        help="only those of these packages: lbm, sbth, ...",
    )
    everything.add_argument(
        "--papers",
        action="store_true",
        help="only those that make a numbered table or figure of a paper",
    )
    everything.add_argument(
        "--minutes",
        type=float,
        help="start no study that would probably end later than so many minutes from now",
    )
    everything.set_defaults(names=None)
    for command in (run, everything):
        add_options(command)
        command.set_defaults(run=run_chosen)
    verbs.add_parser("list", help="print names, durations on two cores, and subjects").set_defaults(
        run=print_list
    )
    papers = verbs.add_parser("papers", help="print the tables and figures of the papers")
    papers.add_argument("--write", action="store_true", help="write docs/papers.md instead")
    papers.set_defaults(run=print_papers)
    options = parser.parse_args(argv)
    options.command = ["studies", *_without_folder(sys.argv[1:] if argv is None else argv)]
    return run_command(parser.prog, lambda: options.run(options))


def _without_folder(words: Sequence[str]) -> list[str]:
    """Return the words of a command line without --out: a record does not depend on its folder."""
    kept: list[str] = []
    for before, word in zip(("", *words), words, strict=False):
        if before != "--out" and not word.startswith("--out"):
            kept.append(word)
    return kept


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that runs studies."""
    parser.add_argument("--device", default="auto", help="auto (a GPU if usable), cpu, cuda:1")
    parser.add_argument("--out", type=Path, default=Path("out/studies"), help="folder for results")
    parser.add_argument("--quick", action="store_true", help="use tiny sizes, for the tests")
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        help="processes that compute true values, or data sets of stablegpu-maxima",
    )
    parser.add_argument(
        "--size",
        type=int,
        help="observations of stablegpu-stream, samples of stablegpu-coverage, data sets of each "
        "kind of stablegpu-maxima, cells of the edge of lbm-cavity, of a body in lbm-tunnels "
        "and lbm-tunnel-drags, plain paths of rode-drift",
    )
    parser.add_argument(
        "--rows",
        default="",
        metavar="PATTERN",
        help="jobs of hetero-devices, distributions of stablegpu-coverage, or data sets of "
        "stablegpu-maxima, in whose names this pattern occurs",
    )


def print_list(options: argparse.Namespace) -> int:
    """Print a line for each study: its name, how long it takes on two cores, and what it is.

    None is imported, because that takes seconds.
    """
    for name, module in STUDIES.items():
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
        print(f"{name:<22}{DURATIONS.get(name, '< 1 min'):<10}{text.splitlines()[0]}")
    return 0


def print_papers(options: argparse.Namespace) -> int:
    """Print a line for each numbered result of the papers, or write the page of the docs."""
    if options.write:
        from studies.papers.page import PAGE, page

        save_output(PAGE, lambda path: path.write_text(page(), encoding="utf-8"))
        print(PAGE)
        return 0
    from studies.papers import RESULTS

    for result in RESULTS:
        print(f"{result.key:<24}{result.command or '-':<36}{result.subject} ({result.place})")
    return 0


def find_studies(names: Sequence[str]) -> list[str]:
    """Return the studies that make what names say, each once; raise an error for other names."""
    studies = [name if name in STUDIES else _study_of_result(name) for name in names]
    return list(dict.fromkeys(studies))


def _study_of_result(name: str) -> str:
    """Return the study that makes a numbered table or figure."""
    from studies.papers import find

    results = find(name)
    if not results:
        raise ValueError(
            f"{name!r} is neither a study (`python -m studies list`) nor a table or figure of a "
            "paper (`python -m studies papers`)"
        )
    if len(results) > 1:
        keys = ", ".join(repr(result.key) for result in results)
        raise ValueError(f"several papers have a {name}: write one of {keys}")
    (result,) = results
    if result.study in STUDIES:
        return result.study
    other = f"`python -m {result.command}` makes it" if result.study else result.remark
    raise ValueError(f"no study makes {result.key}: {other}")


def run_chosen(options: argparse.Namespace) -> int:
    """Run the studies that a command line names, and print the paths of their records."""
    check_integer("--processes", options.processes, 1)
    device = resolve(options.device, work=1, break_even=0)
    options.out.mkdir(parents=True, exist_ok=True)
    check_outputs(others=(options.out / "study.json",))
    if options.size is not None:
        check_integer("--size", options.size, 1)
    settings = options.quick, options.processes, options.size, options.rows
    study = Study(options.out, device, *settings)
    if options.names:
        for path in run_studies(find_studies(options.names), study, options.command):
            print(path)
        return 0
    seconds = None
    if options.minutes is not None:
        seconds = 60.0 * check_positive("--minutes", options.minutes)
    names = names_for(device, options.packages)
    if options.papers:
        names = [name for name in names if name in studies_of_papers()]
    return run_all(names, study, options.command, seconds)


def studies_of_papers() -> set[str]:
    """Return the names of the studies that make a numbered table or figure of a paper."""
    from studies.papers import RESULTS

    records = {Path(record).stem for result in RESULTS for record in result.records}
    behind = {name.removesuffix("-cpu").removesuffix("-cuda") for name in records}
    return ({result.study for result in RESULTS} | behind) & set(STUDIES)


def names_for(device: Device, packages: Sequence[str] = ()) -> list[str]:
    """Return the names of all studies that a device can run, of some packages or of all."""
    others = ON_CPUS_ONLY if device.kind == "cuda" else ON_GPUS_ONLY
    left_out = (*NOT_IN_ALL, *others)
    known = tuple(sorted(set(map(package_of, STUDIES))))
    for package in packages:
        check_choice("PACKAGE", package, known)
    return [
        name
        for name in STUDIES
        if name not in left_out and (not packages or package_of(name) in packages)
    ]


def run_studies(names: Sequence[str], study: Study, command: Sequence[str]) -> list[Path]:
    """Run studies by name and return the paths of their records."""
    return [
        _run_study(name, study, command)
        for name in progress(names, "studies", enabled=len(names) > 1)
    ]


def _run_study(name: str, study: Study, command: Sequence[str]) -> Path:
    """Run a study and return the path of its record.

    One that does not come to its end (Ctrl-C, a job's time is over, an error) leaves what it has
    measured in a file beside.
    """
    module = importlib.import_module(STUDIES[name])
    start = time.perf_counter()
    try:
        with _exit_at_sigterm():
            result = module.run(study)
    except BaseException as error:
        path = study.write_incomplete(name, type(error).__name__, command)
        if path is not None:
            print(f"{name} did not come to its end: its rows so far are in {path}", file=sys.stderr)
        raise
    return study.write(name, result, command, time.perf_counter() - start)


@contextlib.contextmanager
def _exit_at_sigterm() -> Iterator[None]:
    """Let SIGTERM, by which schedulers and `timeout` end a process, raise SystemExit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run_all(
    names: Sequence[str], study: Study, command: Sequence[str], limit: float | None = None
) -> int:
    """Run the studies that have no record of this commit; print the paths, then the seconds of all.

    A study that fails does not keep the others from running. With a `limit` in seconds those are
    left out that would end later if they took as long as they did before. Returns the exit code,
    which is 1 if any has failed.
    """
    failed, left, times = [], [], StudyTimes(study, command)
    begin = time.perf_counter()
    for name in progress(names, "studies"):
        path = study.path(name)
        if is_of_this_commit(path):
            print(f"{path} is of this commit")
            times.add_from_record(name)
            continue
        start, outcome = time.perf_counter(), DONE
        if limit is not None and start - begin + times.seconds_of(name) > limit:
            left.append(name)
            continue
        try:
            _run_study(name, study, command)
        except BaseException as error:
            outcome = type(error).__name__
            if not isinstance(error, Exception):
                raise
            failed.append(name)  # one that runs unattended must come to its end
            traceback.print_exc()
        finally:
            seconds = time.perf_counter() - start
            times.add(name, seconds, outcome)
        print(f"{name}: {seconds:.1f} s")
        if outcome == DONE:
            print(path)
    print(times.table(names))
    print(times.path)
    if left:
        print(f"left for another run by --minutes: {', '.join(left)}", file=sys.stderr)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def is_of_this_commit(path: Path) -> bool:
    """Return whether a record was made at the present commit, by sources without edits."""
    here = environment.commit()
    if here is None or here.endswith("+") or not path.exists():
        return False
    return bool(json.loads(path.read_text(encoding="utf-8"))["facts"]["commit"] == here)


if __name__ == "__main__":
    sys.exit(main())
