"""The commands that the documents show run, in order, in a folder with a user's files."""

import importlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hetero.version import VERSION

ROOT = Path(__file__).parents[1]
PACKAGES = ("stablegpu", "sbth", "rode", "tmd", "lbm")


def commands(package: str) -> list[list[str]]:
    """Return the arguments of the commands in the package's page, without the program's name."""
    page = (ROOT / f"docs/packages/{package}.md").read_text()
    section = page.partition("## From the shell\n")[2]
    (block,) = re.findall(r"```sh\n(.*?)```", section.partition("\n## ")[0], re.S)
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert all(line[0] == package for line in lines)
    return [line[1:] for line in lines]


def write_files(folder: Path) -> None:
    """Write returns, prices, a matrix, a model, a flow and the description of a cluster."""
    import scipy.io
    import scipy.sparse

    rng = np.random.default_rng(1)
    returns = 0.01 * rng.standard_t(3, 300)
    rows = "\n".join(f"{k},{x!r}" for k, x in enumerate(returns.tolist()))
    (folder / "returns.csv").write_text(f"day,return\n{rows}\n")
    rows = "\n".join(f"{k},{x!r}" for k, x in enumerate(np.exp(np.cumsum(returns)).tolist()))
    (folder / "prices.csv").write_text(f"day,close\n{rows}\n")
    matrix = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (40, 40))
    scipy.io.mmwrite(folder / "matrix.mtx", matrix, symmetry="symmetric")
    for name in ("sphere-wake.toml", "piz-daint.json"):
        shutil.copy(ROOT / "examples/lattice_boltzmann" / name, folder)
    (folder / "model.py").write_text("import rode\n\nproblem = rode.relaxation(1.0)\n")


@pytest.mark.parametrize("program", ["hetero", *PACKAGES])
def test_programs_start_as_they_are_installed(program):
    path = Path(sys.executable).with_name(program)
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{program} {VERSION}\n"


@pytest.mark.parametrize("package", PACKAGES)
def test_documented_commands_run(package, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    main = importlib.import_module(f"{package}.__main__").main
    for arguments in commands(package):
        assert main(arguments) == 0, arguments
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        if "--json" in arguments:
            json.loads(out)
        for option in ("--out", "--plot", "--certificate"):
            if option in arguments:
                assert Path(arguments[arguments.index(option) + 1]).stat().st_size > 50
