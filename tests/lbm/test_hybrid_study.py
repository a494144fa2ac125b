"""The study of a GPU beside the CPU, with measurements that are made up: it needs no GPU."""

from types import SimpleNamespace

import pytest

import hetero
from hetero.errors import DeviceUnavailableError
from lbm._parallel.partition import Decomposition
from lbm._performance.cavity import cavity_problem
from lbm._performance.machine import DeviceTimes, Linear, Machine
from lbm._performance.model import predict_step
from studies.lbm import hybrid
from studies.lbm.scaling_worker import Result
from studies.study import Study

RATE = 1e9
"""Updates per second of a GPU without the CPU."""


def make_machine():
    """Return a GPU that is four times as fast as the CPU, and starts at once."""
    axes = (Linear(0.0, 0.0),) * 3
    gpu = DeviceTimes("cuda", Linear(0.0, 1 / RATE), axes, {"host": axes, "mapped": axes})
    cpu = DeviceTimes("cpu", Linear(0.0, 4 / RATE), axes, {"host": axes})
    links = {name: Linear(0.0, 0.0) for name in ("host", "peer")}
    return Machine("made up", 4, gpu, cpu, links)


@pytest.fixture
def made_up(monkeypatch):
    """Return the calls of the measurements, and a function that makes up some more of them."""
    calls = SimpleNamespace(problems=[], links=[], threads=[], ranks=[])

    def measure_machine(problem, devices, *, links):
        calls.problems.append((problem.shape, problem.precision.itemsize))
        calls.links.append(links)
        calls.threads.append(hetero.threads())
        return make_machine()

    def run_cases(cases, ranks, threads):
        calls.ranks.append((ranks, threads))
        ratios = (0.25 if case.ratio == "auto" else case.ratio for case in cases)
        return [Result(1e-6, ratio, "peer") for ratio in ratios]

    def replace(**functions):
        for name, value in functions.items():
            monkeypatch.setattr(hybrid, name, value)
        return calls

    replace(measure_machine=measure_machine, run_cases=run_cases,
            make_domain=lambda problem, device, faces, ratio: ratio,
            measure_best_ratio=lambda problem, *_: 1 / problem.shape[1],
            measure_rate=lambda ratio, device: 1.0 + ratio * (0.5 - ratio),
            limits=lambda device: SimpleNamespace(copy=1.0),
            can_start_ranks=lambda consequence: True)  # fmt: skip
    return replace


@pytest.fixture
def measure(made_up, monkeypatch, tmp_path):
    """Return a function that runs the study with so many GPUs, and its calls."""

    def run(gpus):
        devices = [hetero.Device("cpu"), *(hetero.Device("cuda", k) for k in range(gpus))]
        monkeypatch.setattr(hetero, "available", lambda: devices)
        study = Study(tmp_path, devices[-1], quick=True)
        hybrid.run(study)
        return {table["title"]: table for table in study.tables}, made_up()

    return run


def test_one_gpu_has_all_threads(measure):
    tables, calls = measure(1)
    rates, gains, further = tables.values()
    ((_, _, alone, share, quotient),) = further["rows"]
    assert (alone, share) == (1.0, 1 / 16)
    assert quotient == pytest.approx(1.0 + share * (0.5 - share))
    assert (calls.links, calls.threads, calls.ranks) == ([False], [hetero.threads()], [])
    shares = [row[2] for row in rates["rows"]]
    assert shares == sorted(set(shares))
    for share, rate, predicted, error in (row[2:] for row in rates["rows"]):
        step = predict_step(make_machine(), (16, 12, 8), Decomposition((1, 1, 1)), ratio=share).step
        assert predicted == pytest.approx(16 * 12 * 8 / step / 1e9)
        assert error == pytest.approx(predicted / rate - 1)
    ((_, _, best, gain, _, over_cpu, chosen, fraction, auto, over_gpu),) = gains["rows"]
    assert best == pytest.approx(2 / 12)  # of the shares of 12 rows
    assert gain == pytest.approx(best * (0.5 - best))
    assert over_cpu == pytest.approx((1 + gain) / 0.5 - 1)
    assert chosen == pytest.approx(2 / 12)  # a fifth, less the CPU's margin
    assert fraction == 1.0
    assert auto == 1 / 12
    assert over_gpu == pytest.approx(1.0 + 5 / 144)


def test_several_gpus_have_a_rank_and_a_part_of_the_threads_each(measure):
    tables, calls = measure(2)
    *_, on_ranks = tables.values()
    threads = max(1, hetero.threads() // 2)
    assert (calls.links, calls.threads) == ([True], [threads])
    assert calls.ranks == [(2, threads)]
    assert on_ranks["title"] == f"Ranks with a GPU and {threads} threads each"
    shares = {row[4]: [] for row in on_ranks["rows"]}
    for shape, ranks, _, share, chosen, rate, _, _ in on_ranks["rows"]:
        assert (shape, ranks) == ((16, 12, 16), 2)
        assert rate == pytest.approx(16 * 12 * 16 / 1e-6 / 1e9)
        shares[chosen].append(share)
    assert shares["by auto"] == [0.25]
    assert shares[""][:2] == [0.0, 1 / 12]


def test_the_study_needs_a_gpu_and_the_cpu_alone_has_a_part_of_a_large_domain(made_up, tmp_path):
    with pytest.raises(DeviceUnavailableError, match="needs a CPU beside a GPU"):
        hybrid.run(Study(tmp_path, hetero.Device("cpu"), quick=True))
    shapes = {}

    def make_domain(problem, device, faces, ratio):
        shapes[ratio] = problem.shape
        return ratio

    made_up(make_domain=make_domain, MOST_CELLS_ALONE=16 * 12 * 3 + 5)
    problem, shares = cavity_problem((16, 12, 8)), (0.0, 0.25, 1.0)
    measured = hybrid._measure_shares(hetero.Device("cuda"), problem, shares)
    assert [share for share, _ in measured] == list(shares)
    assert shapes == {0.0: (16, 12, 8), 0.25: (16, 12, 8), 1.0: (16, 12, 3)}


def test_large_domains_are_predicted_from_the_first(made_up, tmp_path):
    shapes, (machines, summary) = ((8, 8, 8), (16, 12, 8), (16, 16, 16)), ({}, [])
    calls = made_up(DOMAINS=shapes, TABLE_SHAPE=shapes[1], FEWEST_CELLS_LIKE_TABLE=1000)
    study = Study(tmp_path, hetero.Device("cuda"))
    rows = list(hybrid._measure_domains(study, machines, summary, links=False))
    assert calls.problems == [(shape, size) for shape in shapes[1::-1] for size in (4, 8)]
    assert list(machines) == ["float32", "float64"]
    order = shapes[1], shapes[0], shapes[2]
    assert list(dict.fromkeys(row[0] for row in rows)) == list(order)
    assert [row[:2] for row in summary] == [[shape, name] for shape in order for name in machines]
