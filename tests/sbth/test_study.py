"""The experiments of Riesinger (2017): the host-driven pipeline, its counts, and the studies."""

import json
from pathlib import Path

import numpy as np
import pytest

from hetero import Device
from sbth import reference
from sbth.__main__ import main
from studies.__main__ import main as run_studies
from studies.sbth.host_driven import ORDERS, HostDriven
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
