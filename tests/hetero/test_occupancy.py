"""Occupancy by NVIDIA's rules: cases worked out by hand, and NVIDIA's own header."""

import ctypes
import importlib.util
import random
import shutil
import subprocess
from pathlib import Path

import numba
import pytest

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.jit import kernel
from studies.hetero.occupancy import LIMITS, occupancy

BY_HAND = [
    # 32 registers: 1024 a warp, 16 warps in each of 4 partitions of 16384: all 64 warps.
    ((9, 0), 256, 32, 0, 8, 64, ("warps", "registers")),
    # 33 registers: 1056 become 1280 a warp, 12 warps a partition: 48 warps, 6 blocks of 8.
    ((9, 0), 256, 33, 0, 6, 48, ("registers",)),
    # 20,000 + 1024 bytes become 21,120: 11 blocks in 233,472 bytes.
    ((9, 0), 64, 16, 20_000, 11, 22, ("shared memory",)),
    # A warp a block: 16 blocks on 3.5 and 32 on 6.0 are the limit.
    ((3, 5), 32, 16, 0, 16, 16, ("blocks",)),
    ((6, 0), 20, 16, 0, 32, 32, ("blocks",)),
    # A block has at most 227 KiB on 9.0, and 48 KiB on 6.0.
    ((9, 0), 128, 16, 227 * 1024, 1, 4, ("shared memory",)),
    ((6, 0), 128, 16, 48 * 1024 + 1, 0, 0, ("shared memory",)),
]


@pytest.mark.parametrize(
    ("capability", "threads", "registers", "shared", "blocks", "warps", "by"), BY_HAND
)
def test_cases_worked_out_by_hand(capability, threads, registers, shared, blocks, warps, by):
    result = occupancy(capability, threads=threads, registers=registers, shared_memory=shared)
    assert (result.blocks, result.warps, result.limited_by) == (blocks, warps, by)
    assert result.share == warps / 64


PROGRAM = """
#include "cuda_occupancy.h"
int blocks(int major, int minor, long multiprocessor, long block, long reserved,
           int threads, int registers, long shared) {
    cudaOccDeviceProp device = {major, minor, 1024, 2048, 65536, 65536, 32, 48 * 1024,
                                multiprocessor, 100, block, reserved};
    cudaOccFuncAttributes function = {1024, registers, 0, PARTITIONED_GC_OFF,
                                      FUNC_SHMEM_LIMIT_OPTIN, block};
    cudaOccDeviceState state = {CACHE_PREFER_SHARED, SHAREDMEM_CARVEOUT_MAX_SHARED};
    if (major < 7) function.shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT;
    cudaOccResult result;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &device, &function, &state, threads, shared);
    return error ? -error : result.activeBlocksPerMultiprocessor;
}
"""


def find_header() -> Path | None:
    """Return the folder with NVIDIA's header, which the wheels of the CUDA runtime have."""
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations if spec else []
    headers = [p for folder in folders for p in Path(folder).glob("*/include/cuda_occupancy.h")]
    return headers[0].parent if headers else None


@pytest.fixture(scope="module")
def nvidia(tmp_path_factory):
    """The number of blocks by NVIDIA's header, compiled here."""
    compiler, header = shutil.which("cc"), find_header()
    if compiler is None or header is None:
        pytest.skip("needs a C compiler and cuda_occupancy.h")
    folder = tmp_path_factory.mktemp("occupancy")
    (folder / "blocks.c").write_text(PROGRAM)
    library = folder / "blocks.so"
    command = [compiler, "-shared", "-fPIC", "-I", header, folder / "blocks.c", "-o", library]
    subprocess.run([*map(str, command), "-lm"], check=True, capture_output=True)
    function = ctypes.CDLL(str(library)).blocks
    function.argtypes = [*[ctypes.c_int] * 2, *[ctypes.c_long] * 3, *[ctypes.c_int] * 2,
                         ctypes.c_long]  # fmt: skip
    return function


@pytest.mark.parametrize("capability", LIMITS)
def test_blocks_are_those_of_the_header(nvidia, capability):
    limits, rng = LIMITS[capability], random.Random(1)
    sizes = limits.shared_memory, limits.block_shared_memory, limits.reserved_shared_memory
    counts = set()
    for _ in range(3000):
        threads, registers = rng.randint(1, 1024), rng.randint(1, 255)
        shared = rng.choice((0, rng.randint(0, limits.block_shared_memory + 2000)))
        expected = nvidia(*capability, *sizes, threads, registers, shared)
        result = occupancy(capability, threads=threads, registers=registers, shared_memory=shared)
        assert result.blocks == expected >= 0, (threads, registers, shared)
        counts.add(expected)
    assert {0, 1, 2, 3, 4, 8} <= counts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"compute_capability": (2, 0)}, "compute_capability=.* choose one of 3.5, 6.0, 9.0"),
        ({"threads": 1025}, "threads"),
        ({"threads": 0}, "threads"),
        ({"registers": 256}, "registers"),
        ({"shared_memory": -1}, "shared_memory"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    settings = {"compute_capability": (9, 0), "threads": 128, "registers": 32} | changes
    with pytest.raises(ValueError, match=message):
        occupancy(settings.pop("compute_capability"), **settings)


@pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")
def test_static_shared_memory_of_a_kernel_is_counted():
    from hetero.cuda.resources import compile_resources

    @kernel
    def reverse(x):
        memory = cuda.shared.array(300, numba.float64)
        flags = cuda.shared.array(10, numba.float32)
        t = cuda.threadIdx.x
        memory[t], flags[t % 10] = x[t], x[t]
        cuda.syncthreads()
        x[t] = memory[299 - t] + flags[9 - t % 10]

    report = compile_resources(reverse, (numba.float64[::1],))
    assert report.shared_memory == 300 * 8 + 10 * 4
    assert 0 < report.registers < 64
    assert report.spills == 0
