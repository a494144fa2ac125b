"""The pipeline with prepared launches: on a GPU, and by stand-ins for its C functions."""

import ctypes
import json

import numpy as np
import pytest

from hetero import Device
from sbth import reference
from studies.__main__ import main as run_studies
from studies.sbth.blas import cpu
from studies.sbth.host_driven import ORDERS, HostDriven
from studies.sbth.operations import sum_instructions
from studies.sbth.prepared import PreparedPipeline
from studies.sbth.prepared.encoding import LIBRARIES
from studies.sbth.prepared.signatures import NO_FUNCTION, SIGNATURES, functions_at
from studies.sbth.task_formulas import LAYOUTS
from studies.sbth.task_program import task_program

ARRAYS = ("work", "vectors", "scalars")
OPERANDS = dict(task_program(first=True, lower=True))


def working_matrix(n=23, d=3):
    """Return a working matrix, with columns of zeros, and the eigenvalues of its matrix."""
    ab = np.random.default_rng(0).standard_normal((d + 1, n))
    ab[:, 9:11] = 0.0
    work = np.zeros((n, 2 * d))
    for k, row in enumerate(ab):
        work[: n - k, k] = row[: n - k]
    return work, np.linalg.eigvalsh(reference.dense_from_band(ab, lower=True))


def eigenvalues(work):
    """Return the eigenvalues of a reduced working matrix."""
    assert not work[:, 2:].any()
    return np.linalg.eigvalsh(np.diag(work[:, 0]) + np.diag(work[:-1, 1], -1), UPLO="L")


def vector(address, count, step=1):
    """Return a view of a vector in memory."""
    return np.frombuffer((ctypes.c_double * (count * step)).from_address(address))[::step]


def matrix(address, rows, columns, pitch):
    """Return a view of a column-major matrix in memory."""
    flat = vector(address, pitch * (columns - 1) + rows)
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (8, 8 * pitch))


class HostMachine:
    """The host in the place of a GPU: routines as cuBLAS documents them, in NumPy."""

    def __init__(self):
        self.log = []
        self._callbacks = {}
        for name, arguments in SIGNATURES.items():
            kinds = [ctypes.c_int64 if a.bitwidth == 64 else ctypes.c_int32 for a in arguments]
            function = getattr(self, f"_{name}")
            self._callbacks[name] = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(function)
        self.callbacks = {
            name: ctypes.cast(function, ctypes.c_void_p).value
            for name, function in self._callbacks.items()
        }
        self.functions = functions_at(self.callbacks.__getitem__)

    def upload(self, array):
        return array.copy()

    def download(self, memory):
        return memory.copy()

    def address(self, memory):
        return memory.ctypes.data

    def kernel(self, name):
        return list(OPERANDS).index(name), 1

    def queues(self, length):
        handles = np.arange(length)
        return 100 + handles, 200 + handles, 300 + handles

    def wait(self):
        pass

    def _launch(self, kernel, *arguments):
        stream, pointers = arguments[7:9]
        self.log.append(stream)
        name = list(OPERANDS)[kernel]
        words = iter(range(100))
        values = []

        def word(kind):
            place = ctypes.c_int64.from_address(pointers + 8 * next(words)).value
            return kind.from_address(place).value

        for operand in OPERANDS[name]:
            if operand in ARRAYS:
                array = [word(ctypes.c_int64) for _ in range(7)]
                assert array == [0, 0, array[2], 8, array[4], array[2], 8]
                values.append(vector(array[4], array[2]))
            else:
                values.append(
                    word(ctypes.c_double if isinstance(operand, float) else ctypes.c_int64)
                )
        cpu.call(name, values, stream)
        return 0

    def _record(self, event, stream):
        self.log.append(("record", event, stream))
        return 0

    def _wait(self, stream, event, flags):
        self.log.append(("wait", stream, event))
        return 0

    def _copy(self, handle, n, x, incx, y, incy):
        vector(y, n, incy)[:] = vector(x, n, incx)
        return 0

    def _axpy(self, handle, n, alpha, x, incx, y, incy):
        vector(y, n, incy)[:] += vector(alpha, 1) * vector(x, n, incx)
        return 0

    def _dot(self, handle, n, x, incx, y, incy, result):
        vector(result, 1)[0] = vector(x, n, incx) @ vector(y, n, incy)
        return 0

    def _nrm2(self, handle, n, x, incx, result):
        vector(result, 1)[0] = np.linalg.norm(vector(x, n, incx))
        return 0

    def _scal(self, handle, n, alpha, x, incx):
        vector(x, n, incx)[:] *= vector(alpha, 1)
        return 0

    def _symv(self, handle, uplo, n, alpha, a, lda, x, incx, beta, y, incy):
        assert uplo == 0  # CUBLAS_FILL_MODE_LOWER
        lower = np.tril(matrix(a, n, n, lda))
        product = (lower + np.tril(lower, -1).T) @ vector(x, n, incx)
        vector(y, n, incy)[:] = vector(alpha, 1) * product + vector(beta, 1) * vector(y, n, incy)
        return 0

    def _syr2(self, handle, uplo, n, alpha, x, incx, y, incy, a, lda):
        assert uplo == 0
        update = np.outer(vector(x, n, incx), vector(y, n, incy))
        matrix(a, n, n, lda)[:] += np.tril(vector(alpha, 1) * (update + update.T))
        return 0

    def _gemv(self, handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy):
        block = matrix(a, m, n, lda)
        block = block.T if trans == 1 else block  # CUBLAS_OP_T
        result = vector(y, block.shape[0], incy)
        product = block @ vector(x, block.shape[1], incx)
        result[:] = vector(alpha, 1) * product + vector(beta, 1) * result
        return 0

    def _ger(self, handle, m, n, alpha, x, incx, y, incy, a, lda):
        update = np.outer(vector(x, m, incx), vector(y, n, incy))
        matrix(a, m, n, lda)[:] += vector(alpha, 1) * update
        return 0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("length", [1, 3])
def test_words_are_those_that_kernels_and_routines_take(length, library, order):
    work, true = working_matrix()
    pipeline = PreparedPipeline(work, HostMachine(), length, order, library)
    pipeline.issue()
    np.testing.assert_allclose(eigenvalues(pipeline.result()), true, atol=1e-13)
    driver = HostDriven(work, Device("cpu"), length, order)
    driver.run()
    assert pipeline.tasks == driver.tasks
    if library == LIBRARIES[0]:
        np.testing.assert_array_equal(pipeline.result(), driver.result())
        assert pipeline.issued == driver.calls.total()


@pytest.mark.parametrize("order", ORDERS)
def test_storage_by_rows_gives_the_bits_of_storage_by_columns(order):
    work, _ = working_matrix()
    results = []
    for layout in LAYOUTS:
        pipeline = PreparedPipeline(work, HostMachine(), 2, order, LIBRARIES[0], layout)
        pipeline.issue()
        results.append(pipeline.result())
    np.testing.assert_array_equal(*results)
    with pytest.raises(ValueError, match="layout must be 'column-major' for the vendor's BLAS"):
        PreparedPipeline(work, HostMachine(), 2, order, LIBRARIES[1], LAYOUTS[1])


@pytest.mark.parametrize("order", ORDERS)
def test_queues_wait_for_each_other_and_take_turns(order):
    work, _ = working_matrix()
    machine = HostMachine()
    pipeline = PreparedPipeline(work, machine, 2, order, LIBRARIES[0])
    pipeline.issue(6, 7)  # tasks of two sweeps at least
    launches = [entry for entry in machine.log if not isinstance(entry, tuple)]
    assert machine.log[:2] == [("record", 200, 100), ("wait", 101, 200)]
    assert machine.log[2 + launches.index(101) :].count(("record", 201, 101)) >= 1
    assert launches[:2] == ([100, 101] if order == ORDERS[0] else [100, 100])


def test_our_kernels_need_no_library():
    work, true = working_matrix()
    machine = HostMachine()
    callbacks = machine.callbacks
    machine.functions = functions_at(
        lambda name: callbacks[name] if name in ("launch", "record", "wait") else NO_FUNCTION
    )
    pipeline = PreparedPipeline(work, machine, 2, ORDERS[0], LIBRARIES[0])
    pipeline.issue()
    np.testing.assert_allclose(eigenvalues(pipeline.result()), true, atol=1e-13)


def test_calls_of_routines_are_counted_by_tasks():
    n, d, machine = 31, 4, HostMachine()
    pipeline = PreparedPipeline(np.ones((n, 2 * d)), machine, 1, ORDERS[1], LIBRARIES[1])
    times = [float(name == "symv") for name in pipeline.names]
    counted = sum_instructions(n, d, pipeline, times)
    pipeline.issue()
    assert sum(counted["calls"].values()) == pipeline.issued
    assert counted["calls"]["symv"] == pipeline.tasks == counted["seconds"]
    assert counted["share"]["symv"] == 1.0
    ours = PreparedPipeline(np.ones((n, 2 * d)), machine, 1, ORDERS[1], LIBRARIES[0])
    machine.log.clear()
    ours.repeat(ours.names.index("eliminate"), 3)
    assert machine.log == [100, 100, 100]


def test_an_error_of_the_library_ends_the_run():
    work, _ = working_matrix()
    machine = HostMachine()
    refused = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * 6)(lambda *arguments: 13)
    address = ctypes.cast(refused, ctypes.c_void_p).value
    machine.functions = machine.functions._replace(
        copy=type(machine.functions.copy)(address, SIGNATURES["copy"])
    )
    pipeline = PreparedPipeline(work, machine, 1, ORDERS[0], LIBRARIES[1])
    with pytest.raises(RuntimeError, match="error 13 of the driver or of the vendor's BLAS"):
        pipeline.issue()
    assert pipeline.tasks == 0


@pytest.fixture(params=LIBRARIES)
def machine(request, require_cuda):
    """A GPU with one of the libraries."""
    from studies.sbth.prepared.cuda_machine import CudaMachine, LibraryNotInstalledError

    try:
        return CudaMachine(with_library=request.param == LIBRARIES[1]), request.param
    except LibraryNotInstalledError as error:
        pytest.skip(str(error))


@pytest.mark.cuda
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("length", [1, 3, 12])
def test_a_gpu_reduces_the_matrix_with_prepared_launches(machine, length, order):
    cuda, library = machine
    work, true = working_matrix(200, 16 if length < 12 else 4)
    pipeline = PreparedPipeline(work, cuda, length, order, library)
    pipeline.issue()
    np.testing.assert_allclose(eigenvalues(pipeline.result()), true, atol=1e-12)
    driver = HostDriven(work, Device("cuda"), length, order)
    driver.run()
    if library == LIBRARIES[0]:
        np.testing.assert_array_equal(pipeline.result(), driver.result())
        by_rows = PreparedPipeline(work, cuda, length, order, library, LAYOUTS[1])
        by_rows.issue()
        np.testing.assert_array_equal(pipeline.result(), by_rows.result())


@pytest.mark.cuda
@pytest.mark.parametrize("length", [1, 4])
def test_graphs_give_the_bits_of_launches(machine, length):
    cuda, library = machine
    work, true = working_matrix(120, 8)
    launched = PreparedPipeline(work, cuda, length, ORDERS[0], library)
    launched.issue()
    captured = PreparedPipeline(work, cuda, length, ORDERS[0], library)
    for begin in range(0, captured.steps, 50):
        stop = min(begin + 50, captured.steps)
        graph = cuda.capture(captured.stream, lambda b=begin, s=stop: captured.issue(b, s))
        assert graph.run() > 0.0
        graph.close()
    assert captured.tasks == launched.tasks
    np.testing.assert_allclose(eigenvalues(captured.result()), true, atol=1e-12)
    if library == LIBRARIES[0]:
        np.testing.assert_array_equal(captured.result(), launched.result())


@pytest.mark.cuda
def test_the_studies_run_on_a_gpu(require_cuda, tmp_path):
    options = ["--quick", "--device", "cuda", "--out", str(tmp_path)]
    assert run_studies(["run", "sbth-pipeline", "sbth-operations", *options]) == 0
    result = json.loads((tmp_path / "sbth-pipeline-cuda.json").read_text())["result"]
    # Runs of a part of a reduction compare nothing.
    errors = [e for run in result["runs"] if (e := run.get("error of eigenvalues")) is not None]
    assert len(errors) >= 2
    assert max(errors) < 1e-13
