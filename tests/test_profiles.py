"""Reading of what NVIDIA's profiler writes, and the study's errors where it is missing."""

import pytest

from studies.hetero import profiles
from studies.hetero.profiled_calls import MARK

OUTPUT = """==PROF== Connected to process 7
"ID","Process ID","Kernel Name","{time}","sm__warps_active"
"","","","ns","%"
"0","7","{mark}","1200","1.5"
"1","7","fill","5,000.00","50"
"2","7","finish","700","25"
"3","7","{mark}","1300","1.5"
"4","7","evaluate","9000","75"
""".format(time=profiles.TIME, mark=f"_ZN{MARK}")


def test_kernels_of_each_call():
    first, second = profiles.split_calls(profiles.read_metrics(OUTPUT))
    assert [kernel["Kernel Name"] for kernel in first] == ["fill", "finish"]
    assert first[0][profiles.TIME] == "5000.00"
    assert [kernel[profiles.TIME] for kernel in second] == ["9000"]


def test_a_row_is_that_of_the_longest_kernel():
    other = dict.fromkeys(profiles.METRICS, "0") | {profiles.TIME: "500"}
    longest = other | {
        profiles.TIME: "1000", profiles.OCCUPANCY: "50", profiles.GLOBAL_BYTES: "2000",
        profiles.SHARED_LOADS: "30", profiles.SHARED_STORES: "20", profiles.SHARED_SHARE: "7",
    }  # fmt: skip
    longest |= dict(zip(profiles.FLOAT32, ("100", "200", "300"), strict=True))
    row = profiles._row("fill", [other, longest], (1.8e9, 1e9))
    row = dict(zip(profiles.HEADS, row, strict=True))
    assert row["kernels"] == 2
    assert row["us"] == pytest.approx(1.0)
    assert row["occupancy"] == 0.5
    assert row["GFLOP/s, float32"] == pytest.approx(0.9)  # 100 + 200 + 2 * 300 in a microsecond
    assert row["% of peak, float32"] == pytest.approx(50.0)
    assert row["global memory, GB/s"] == pytest.approx(2.0)
    assert row["shared memory, GB/s"] == pytest.approx(6.4)  # 50 times 128 bytes
    assert row["shared memory, %"] == 7.0
