"""Seconds of the three phases of a search, on a GPU."""

from dataclasses import replace

import pytest

from hetero import Device
from studies.tmd.domains import random_windows
from studies.tmd.phases import count_arguments, with_subdomain_size
from tmd.functions import load_function


@pytest.mark.cuda
@pytest.mark.parametrize("test", ["lefevre", "regular"])
def test_the_timed_phases_take_their_time(require_cuda, test):
    from studies.tmd.phase_times import time_phases

    f, device = load_function("exp"), Device("cuda")
    times = []
    for width in (30, 34):
        (plan,) = random_windows(f, 1, 2, 1, width, 32)
        plan = replace(with_subdomain_size(plan, 15, 3), algorithm=test)
        count_arguments(f, [plan], device)
        with device.active():
            # Others may use the GPU at the same time: the least of some times counts.
            times.append([time_phases(f, plan) for _ in range(5)])
    assert all(0.0 < second < 1.0 for rows in times for row in rows for second in row)
    short, long = (min(map(sum, rows)) for rows in times)
    assert long > short


@pytest.mark.cuda
def test_missing_room_is_an_error(require_cuda, monkeypatch):
    from studies.tmd import phase_times

    f, device = load_function("exp"), Device("cuda")
    (plan,) = random_windows(f, 128, 256, 1, 30, 32)
    plan = replace(with_subdomain_size(plan, 15, 4), algorithm="lefevre")
    count_arguments(f, [plan], device)
    take_buffers = phase_times.take_buffers

    def take_small_buffers():
        buffers = take_buffers()
        monkeypatch.setattr(buffers, "capacity", [0, 0, 0])
        return buffers

    monkeypatch.setattr(phase_times, "take_buffers", take_small_buffers)
    with device.active(), pytest.raises(RuntimeError, match="passed"):
        phase_times.time_phases(f, plan)
