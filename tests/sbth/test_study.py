"""The experiments of Riesinger (2017): the host-driven pipeline, its counts, and the studies."""

import json
from pathlib import Path

import numpy as np
import pytest

from hetero import Device
from sbth import reference
from sbth.__main__ import main
from sbth._reduction.bulge_chasing.cuda_source import TILES
from studies.__main__ import main as run_studies
from studies.sbth import counts
from studies.sbth.host_driven import ORDERS, HostDriven
from studies.sbth.prepared import PreparedPipeline
from studies.sbth.prepared.encoding import LIBRARIES
from studies.sbth.task_formulas import LAYOUTS

GOLDEN = Path(__file__).parent / "data" / "bulge-chasing-16.py.txt"


def working_matrix(n=23, d=3):
    """Return a working matrix, and the eigenvalues of its matrix.

    Of its columns of zeros the formula of Riesinger (2017) would divide by 0.
    """
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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("length", [1, 3])
def test_host_driven_pipeline_preserves_the_spectrum(device, order, length, layout):
    work, true = working_matrix()
    driver = HostDriven(work, Device(device), length, order, layout)
    driver.run()
    np.testing.assert_allclose(eigenvalues(driver.result()), true, atol=1e-13)


@pytest.mark.parametrize(("n", "d"), [(24, 5), (31, 4), (20, 7)])
def test_the_sums_are_what_a_run_counts(n, d):
    calls, operations_of_level_2 = counts.count_run(n, d)
    assert calls == counts.count_pairs(n, d)
    assert operations_of_level_2 == counts.count_work(n, d)[0]


def test_algorithm_2_as_printed_misses_block_pairs():
    ab = np.random.default_rng(0).standard_normal((6, 24))
    a = reference.dense_from_band(ab, lower=True)
    true = np.linalg.eigvalsh(a)
    _, processed = counts.reduce_by_steps(a, 5, own_count=False)
    assert (counts.count_pairs(24, 5), processed.total()) == (64, 58)
    result, processed = counts.reduce_by_steps(a, 5, own_count=True)
    assert processed.total() == 64
    np.testing.assert_allclose(np.linalg.eigvalsh(result), true, atol=1e-13)


def test_the_pictures_of_the_pipeline_are_those_of_a_reduction(tmp_path):
    options = ["--device", "cpu", "--out", str(tmp_path)]
    assert run_studies(["run", "thesis figure 4.3", *options]) == 0
    result = json.loads((tmp_path / "sbth-blocks-cpu.json").read_text())["result"]
    assert result["steps"] == 44  # figure 4.4 ends with step 43
    assert result["error of eigenvalues"] < 1e-12
    assert result["largest element left"] == 0.0
    assert (tmp_path / "sbth-blocks-4.3.png").stat().st_size > 5000


def test_studies_run(tmp_path):
    names = [f"sbth-{x}" for x in ("comparison", "counts", "operations", "pipeline", "plane")]
    assert run_studies(["run", *names, "--quick", "--device", "cpu", "--out", str(tmp_path)]) == 0
    for name in names:
        assert json.loads((tmp_path / f"{name}-cpu.json").read_text())["result"]
    assert (tmp_path / "sbth-plane.png").stat().st_size > 5000
    assert (tmp_path / "operations.png").stat().st_size > 5000
    assert (tmp_path / "pipeline-speed-up.png").stat().st_size > 5000


def test_the_printed_kernel_is_the_golden_file(capsys):
    """After an intended change: python -m sbth kernel > tests/sbth/data/(name of the file)."""
    assert main(["kernel"]) == 0
    assert capsys.readouterr().out == GOLDEN.read_text()


@pytest.mark.parametrize("tile", TILES)
def test_every_kernel_can_be_printed(tile, capsys):
    assert main(["kernel", "--tile", str(tile)]) == 0
    compile(capsys.readouterr().out, "kernel", "exec")


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
