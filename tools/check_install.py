"""Check an installed heterokit on a machine without a GPU: python -I check_install.py EXTRA.

tools/check_pythons.sh runs it in fresh environments, because a source tree does not show what an
installation lacks. It prints one line of versions if all is well; otherwise it ends with a
traceback and exit code 1.
"""

import importlib.metadata
import importlib.util
import math
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

PACKAGES = ("hetero", "stablegpu", "rode", "lbm", "sbth", "tmd")
SOURCE_ONLY = ("tests", "examples", "benchmarks", "studies")


def check_packages() -> None:
    """Require that the packages, and nothing else of the source tree, are installed."""
    site = Path(sysconfig.get_path("purelib")).resolve()
    for name in PACKAGES:
        file = importlib.import_module(name).__file__
        assert file is not None, f"{name} is a folder without __init__.py"
        origin = Path(file).resolve()
        assert origin.is_relative_to(site), f"{name} comes from {origin}, not from {site}"
    for name in SOURCE_ONLY:
        assert importlib.util.find_spec(name) is None, f"{name} was installed"


def check_cpu() -> None:
    """Compile and run a density on the CPU, and compare it with its closed form."""
    import stablegpu

    pdf = stablegpu.stable(2.0, 0.0, device="cpu").pdf(0.0)
    expected = 1 / (2 * math.sqrt(math.pi))
    assert math.isclose(pdf, expected, rel_tol=1e-14), f"pdf {pdf}, not {expected}"


def check_compiler(extra: str) -> None:
    """Compile a kernel to a cubin with the CUDA wheels that `extra` brought."""
    import numba
    from cuda.bindings import nvjitlink
    from numba import cuda

    from hetero.cuda.resources import compile_resources
    from hetero.philox.cuda import fill_words

    assert cuda.implementation == "NVIDIA", f"numba.cuda is {cuda.implementation}"
    version = nvjitlink.version()
    assert extra == f"cuda{version[0]}", f"{extra} brought nvJitLink {version}"

    word = numba.uint32
    signature = (word, word, word, word, numba.int64, word[::1])
    report = compile_resources(fill_words, signature, arch="sm_90")
    assert report.registers > 0, report


def check_command() -> None:
    """Run `python -m hetero`, which reports the devices."""
    command = [sys.executable, "-I", "-m", "hetero", "--no-limits"]
    process = subprocess.run(command, capture_output=True, text=True)
    output = process.stdout + process.stderr
    assert process.returncode == 0, f"{command} ended with {process.returncode}:\n{output}"


def main() -> None:
    extra = sys.argv[1]
    check_packages()
    check_cpu()
    check_compiler(extra)
    check_command()
    names = ("numba", "numba-cuda", "numpy")
    versions = " ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    print(f"python {platform.python_version()} {extra}: {versions} ok")


if __name__ == "__main__":
    main()
