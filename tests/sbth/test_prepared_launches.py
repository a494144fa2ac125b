"""The pipeline with prepared launches, on a GPU."""

import numpy as np
import pytest

from hetero import Device
from sbth import reference
from studies.sbth.host_driven import ORDERS, HostDriven
from studies.sbth.prepared import PreparedPipeline
from studies.sbth.prepared.encoding import LIBRARIES
from studies.sbth.task_formulas import LAYOUTS


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
    """Tasks and results are those of the pipeline that the host drives call by call."""
    cuda, library = machine
    work, true = working_matrix(200, 16 if length < 12 else 4)
    pipeline = PreparedPipeline(work, cuda, length, order, library)
    pipeline.issue()
    np.testing.assert_allclose(eigenvalues(pipeline.result()), true, atol=1e-12)
    driver = HostDriven(work, Device("cuda"), length, order)
    driver.run()
    assert pipeline.tasks == driver.tasks
    if library == LIBRARIES[0]:
        assert pipeline.issued == driver.calls.total()
        np.testing.assert_array_equal(pipeline.result(), driver.result())
        by_rows = PreparedPipeline(work, cuda, length, order, library, LAYOUTS[1])
        by_rows.issue()
        np.testing.assert_array_equal(pipeline.result(), by_rows.result())
    else:
        with pytest.raises(ValueError, match="layout must be 'column-major' for the vendor's BLAS"):
            PreparedPipeline(work, cuda, length, order, library, LAYOUTS[1])
