"""Lists of arguments as makers of libraries publish them are read, and libraries judged by them."""

import json
import math
import shutil
import subprocess
from fractions import Fraction

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


@pytest.mark.parametrize("case", [("exp", 6, 0), ("log", 3, 3), ("tan", 6, 0)])
def test_a_public_list_is_read_and_what_is_skipped_is_counted(tmp_path, case):
    path, (name, read, no_value) = tmp_path / "list.wc", case
    path.write_text(LINES)
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


@pytest.mark.parametrize(
    ("text", "message"),
    [("constexpr double X[] = {1.5,\n", r"list.wc: line 1 begins an array without an end"),
     ("constexpr uint64_t X[] = {0x7FF8000000000000};", r"list.wc: line 1 has '0x7FF8"),
     ("exp 1\n= exp tonearest binary64 0x1p+0\n", r"line 2 has no number, or no result"),
     ("= exp tonearest binary64 : 0x1p+0\n", r"list.wc: line 1 has no number"),
     ("sin 1\n", r"list.wc: the list has no line of exp")],
)  # fmt: skip
def test_what_is_wrong_in_lists_of_other_projects_names_file_and_line(text, message, tmp_path):
    (tmp_path / "list.wc").write_text(text)
    with pytest.raises(tmd.CertificateError, match=message):
        read_arguments(tmp_path / "list.wc", "exp")


def test_lists_of_windows_and_digit_separators_are_read(tmp_path):
    (tmp_path / "a.wc").write_bytes(b"\xef\xbb\xbf0x1.8p+0\r\n1.25\r\n")
    (tmp_path / "b.h").write_text("constexpr double X[] = {1'000.5, 0x1.8p1};")
    assert read_arguments(tmp_path / "a.wc", "exp")[0] == [Fraction(3, 2), Fraction(5, 4)]
    assert read_arguments(tmp_path / "b.h", "exp")[0] == [Fraction(2001, 2), 3]


LLVM = """\
// Arguments of sin that are hard to round. {1.0, 2.0}
TEST_F(LlvmLibcSinTest, TrickyInputs) {
  constexpr int N = 3;
  constexpr double INPUTS[N] = {
      0x1.5p+3, -0x1.8p-20, /* 0.25, */ 2.5,
  };
  constexpr uint64_t WORDS[] = {
      0x3ff8'0000'0000'0000,  // x = 1.5
      0xbfe0000000000001ULL, 1,
  };
  int modes[2] = {0, 1};
  const float MORE[] = {0x1.8p+4f, 0.75f};
}
"""
GLIBC = """\
# Inputs of tests.
cos 1

sin 0x1.8p+3 no-test-inline
sin -0
sin pi/2 xfail-rounding:ibm128-libgcc
sin -min_subnorm
sin max
sin 1e-400
sinh 3
"""
OUTPUT = """\
sin 0x1p+1
= sin downward binary64 0x2p+0 : 0xe.8c7b7568da228p-4 : inexact-ok
= sin tonearest binary32 0x3p+0 : 0xe.8c7b7p-4 : inexact-ok
= sin tonearest binary64 0x2p+0 : 0xe.8c7b7568da23p-4 : inexact-ok
"""


def test_lists_of_llvm_are_read(tmp_path):
    (tmp_path / "sin_test.cpp").write_text(LLVM)
    arguments, skipped = read_arguments(tmp_path / "sin_test.cpp", "sin")
    words = [1.5, -0.5 - 2.0**-53, 2.0**-1074]
    assert arguments == [10.5, -1.5 * 2.0**-20, 2.5, *map(Fraction, words), 24, 0.75]
    assert skipped == {}
    assert read_arguments(tmp_path / "sin_test.cpp", "sin", 24)[1] == {"no number of binary32": 2}
    (tmp_path / "bad.cpp").write_text("double X[] = {\n  inf};\n")
    assert read_arguments(tmp_path / "bad.cpp", "sin") == ([], {"NaN or infinity": 1})
    (tmp_path / "bad.cpp").write_text("uint64_t X[] = {\n  0x7ff0000000000000};\n")
    with pytest.raises(tmd.CertificateError, match="line 2 has '0x7ff0000000000000'"):
        read_arguments(tmp_path / "bad.cpp", "sin")


def test_lists_of_glibc_are_read(tmp_path):
    (tmp_path / "in").write_text(GLIBC)
    arguments, skipped = read_arguments(tmp_path / "in", "sin")
    ends = [-(2.0**-1074), float.fromhex("0x1.fffffffffffffp+1023")]
    half_pi = [math.pi / 2, math.nextafter(math.pi / 2, 2)]
    assert arguments == [12, 0, *half_pi, *ends, 0, 2.0**-1074]
    assert skipped == {}
    (tmp_path / "out").write_text(OUTPUT)
    assert read_arguments(tmp_path / "out", "sin", form="glibc")[0] == [2, 2]
    with pytest.raises(tmd.CertificateError, match="no line of tan, but those of cos, sin, sinh"):
        read_arguments(tmp_path / "in", "tan")


@pytest.mark.parametrize("name", ["exp", "hypot"])
@pytest.mark.parametrize("form", ["core-math", "glibc", "llvm"])
@pytest.mark.parametrize("precision", [53, 24])
def test_lists_are_converted_and_read_again(name, form, precision, tmp_path, capsys):
    numbers = [1.5, -(2.0**-149), 2.0**100 + 2.0**77, 0.0]
    points = numbers if name == "exp" else [*zip(numbers, numbers[::-1], strict=True)]
    first, second = tmp_path / "first", tmp_path / "second"
    texts = [x.hex() if name == "exp" else f"{x[0].hex()},{x[1].hex()}" for x in points]
    first.write_text("# a list\n" + "\n".join(texts) + "\n")
    options = ["--to", form, "--precision", str(precision), "--out", str(second)]
    assert main(["convert", name, str(first), *options]) == 0
    assert read_arguments(second, name, precision) == (points, {})  # its format is seen
    assert main(["check", name, "--cases", str(second), "--format", form, "--json",
                 "--precision", str(precision)]) == 0  # fmt: skip
    assert json.loads(capsys.readouterr().out)["libraries"][0]["tried"] == 4


@pytest.mark.skipif(shutil.which("cc") is None, reason="a library is compiled by cc")
def test_negative_ends_may_follow_options_and_wrong_values_are_counted(tmp_path, capsys):
    library, source = tmp_path / "bad.so", tmp_path / "bad.c"
    source.write_text("double exp(double x) { return 42.0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    options = ["--bits", "24", "--library", str(library)]
    for ends, code in ((["--", "-8", "-7.99999"], 1), (["-8", "-7.99999", "--exit-zero"], 0)):
        assert main(["check", "exp", *options, *ends]) == code
        out = capsys.readouterr().out
        wrong = int(out.partition(f"{library}: ")[2].partition(" of")[0])
        assert wrong > 20
        assert f"and {wrong - 20} more; --json has all" in out


@pytest.mark.parametrize(
    ("name", "precision", "text", "expected"),
    [("pow", 53, "constexpr mpfr::BinaryInput<double> X[] = {\n  {0x1p-2, -3.5}, {2, 8}};",
      [(0.25, -3.5), (2.0, 8.0)]),
     ("atan2", 24, "mpfr::BinaryInput<float> X[N] = {{0x1.8p+1f, 0.1f}};",
      [(3.0, 13421773 * 2.0**-27)]),
     ("exp", 53, "cpp::array<double, 2> X{{0.1, 4.9e-324}};", [0.1, 2.0**-1074]),
     ("exp", 24, "float X[] = {16777217.0F};\nint64_t N[] = {3};", [16777216.0])],
)  # fmt: skip
def test_pairs_arrays_and_constants_of_llvm_are_read(name, precision, text, expected, tmp_path):
    """A compiler rounds constants to the type of their array."""
    (tmp_path / "test.cpp").write_text(text)
    assert read_arguments(tmp_path / "test.cpp", name, precision) == (expected, {})
