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
