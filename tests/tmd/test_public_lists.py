"""Lists of arguments as makers of libraries publish them are read, and libraries judged by them."""

import json
import shutil
import subprocess

import pytest

import tmd
from tmd.__main__ import main
from tmd.library_check import read_arguments

LINES = """\
# the following inputs exercise overflow or underflow
0x1p+10, ERANGE
-0x1.0cc0000000001p+10 , ERANGE
+snan
-nan
+inf
-Infinity
0
-0x0p+0

1e-5  # a decimal number: not one of binary64
0x1.00000000000001p+0
0x1.8172a0e02f90ep-2
0x1.fffffffffffffp-54 F 60
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "list.wc"
    path.write_text(LINES)
    return path


@pytest.mark.parametrize(
    ("name", "read", "no_value"), [("exp", 6, 0), ("log", 3, 3), ("tan", 6, 0)]
)
def test_a_public_list_is_read_and_what_is_skipped_is_counted(path, name, read, no_value):
    arguments, skipped = read_arguments(path, name)
    expected = {"NaN or infinity": 4, "no number of binary64": 2}
    assert skipped == expected | ({f"{name} has no value there": no_value} if no_value else {})
    assert len(arguments) == read
    scores = tmd.check_libraries(name, arguments, {"wrong": lambda x: 42.0})
    assert (scores[-1].tried, len(scores[-1].wrong)) == (read, read)
    assert len(read_arguments(path, name, 24)[0]) < read


def test_numbers_beyond_the_precision_are_skipped(tmp_path, capsys):
    (tmp_path / "list.wc").write_text("0x1p+2000\n0x1p+0\n")
    assert main(["check", "exp", "--cases", str(tmp_path / "list.wc")]) == 0
    assert "list.wc: 1 line skipped, no number of binary64" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"float64|binary64"):
        tmd.check_libraries("exp", [2**2000])


def test_what_is_no_list_of_arguments_is_refused(tmp_path):
    for line in ("0x1p+0,0x1p+1", "0x1p+0 x", "number", "1, 2"):
        (tmp_path / "list.wc").write_text(f"# comment\n{line}\n")
        with pytest.raises(tmd.CertificateError, match="line 2 of"):
            read_arguments(tmp_path / "list.wc", "exp")


def test_the_command_says_what_it_skips(path, capsys):
    assert main(["check", "log", "--cases", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    assert f"{path}: 4 lines skipped, NaN or infinity" in captured.err
    assert f"{path}: 3 lines skipped, log has no value there" in captured.err
    assert json.loads(captured.out)["skipped"] == 9


@pytest.mark.skipif(shutil.which("cc") is None, reason="a library is compiled by cc")
def test_negative_ends_may_follow_options_and_wrong_values_are_counted(tmp_path, capsys):
    library, source = tmp_path / "bad.so", tmp_path / "bad.c"
    source.write_text("double exp(double x) { return 42.0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    options = ["--bits", "24", "--library", str(library)]
    for ends in (["--", "-8", "-7.99999"], ["-8", "-7.99999"]):
        assert main(["check", "exp", *options, *ends]) == 0
        out = capsys.readouterr().out
        wrong = int(out.partition(f"{library}: ")[2].partition(" of")[0])
        assert wrong > 20
        assert f"and {wrong - 20} more; --json has all" in out
