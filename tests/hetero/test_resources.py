"""What the assembler reports of a kernel."""

import numba

from hetero.cuda.driver import cuda
from hetero.jit import kernel


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
