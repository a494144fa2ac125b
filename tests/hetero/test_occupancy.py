"""Occupancy by NVIDIA's rules, against NVIDIA's own header."""

import ctypes
import importlib.util
import random
import shutil
import subprocess
from pathlib import Path

import numba
import pytest

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from studies.hetero.occupancy import LIMITS, occupancy

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
        assert result.share == result.warps / 64 == expected * -(-threads // 32) / 64
        counts.add(expected)
    assert {0, 1, 2, 3, 4, 8} <= counts


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
