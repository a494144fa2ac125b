"""Columns of numbers from files and to files."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from hetero.data_files import Column, check_output, drop_missing, read_columns, write_columns


def save(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        ("date,close\n2020-01-01,1.5\n2020-01-02,2\n", "close", [1.5, 2.0]),
        ("date,close\n2020-01-01,1.5\n2020-01-02,2\n", "2", [1.5, 2.0]),
        ("1 2 3\n4 5 6\n", "2", [2.0, 5.0]),
        ("# comment\n\na;b\n1;2\n3;\n", "b", [2.0, np.nan]),
        ("a\tb\n1\tNA\n2\t-1e3\n", "b", [np.nan, -1000.0]),
        ('"a, b",c\n"1.5",2\n', "a, b", [1.5]),
        ("\ufeffx\n1\n", "x", [1.0]),
    ],
)
def test_text_is_read_with_and_without_headings(tmp_path, text, key, values):
    (column,) = read_columns(save(tmp_path, "a.csv", text), [key])
    np.testing.assert_array_equal(column.values, values)


def test_a_heading_goes_before_a_number(tmp_path):
    path = save(tmp_path, "a.csv", "a,b\n1,2\n")
    assert [c.name for c in read_columns(path, ["2", "a"])] == ["b", "a"]


def test_the_only_column_of_numbers_needs_no_name(tmp_path):
    path = save(tmp_path, "a.csv", "day,x\nMonday,1\nTuesday,2\n")
    assert read_columns(path)[0].name == "x"
    assert [c.name for c in read_columns(path, every=True)] == ["x"]
    with pytest.raises(ValueError, match="no column holds numbers"):
        read_columns(save(tmp_path, "c.csv", "a\nMonday\n"), every=True)
    with pytest.raises(ValueError, match=r"choose a column .* 'a' \(1\), 'b' \(2\)"):
        read_columns(save(tmp_path, "b.csv", "a,b\n1,2\n"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "holds no data"),
        ("a.csv", b"a,b\n", "headings, but no numbers"),
        ("a.csv", b"a,b\n1,2\n1,two\n", "line 3: 'two' in column 'b' is not a number"),
        ("a.csv", b"a,b\n1,2\n", "there is no column 'c'"),
        ("a.csv", b"\xff\xfe\x00", "no text file"),
        ("a.npy", b"a,b\n", "no NumPy file"),
    ],
)
def test_errors_name_the_file_and_the_place(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        read_columns(path, ["c" if "'c'" in message else "2"])
    assert str(path) in str(error.value)


def test_missing_values_are_left_out_on_request():
    column = Column("x", np.array([1.0, np.nan, 2.0]))
    with pytest.raises(ValueError, match=r"lacks 1 of 3 values, the first in row 2 .*skip-missing"):
        drop_missing(column, "a.csv", False)
    np.testing.assert_array_equal(drop_missing(column, "a.csv", True), [1.0, 2.0])


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet"])
def test_what_is_written_is_read_again(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    columns = {"x": np.array([1 / 3, np.nan, np.inf]), "n, of": np.arange(3)}
    path = tmp_path / f"a{suffix}"
    write_columns(path, columns)
    for column, (name, values) in zip(read_columns(path, ["1", "2"]), columns.items(), strict=True):
        assert column.name == name
        np.testing.assert_array_equal(column.values, values)


def test_numpy_files_of_one_and_two_dimensions(tmp_path):
    np.save(tmp_path / "one.npy", np.arange(3))
    np.save(tmp_path / "two.npy", np.arange(6.0).reshape(3, 2))
    np.savez(tmp_path / "many.npz", a=np.ones(2), b=np.zeros(2))
    np.save(tmp_path / "complex.npy", np.ones(2, complex))
    np.testing.assert_array_equal(read_columns(tmp_path / "one.npy")[0].values, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(read_columns(tmp_path / "two.npy", ["2"])[0].values, [1, 3, 5])
    np.testing.assert_array_equal(read_columns(tmp_path / "many.npz", ["b"])[0].values, [0, 0])
    with pytest.raises(ValueError, match="complex128, not real"):
        read_columns(tmp_path / "complex.npy", ["1"])


def test_the_standard_input_and_output(monkeypatch, capsys):
    write_columns(None, {"x": np.array([0.1, 2.0]), "y": np.array([0.1], np.float32).repeat(2)})
    text = capsys.readouterr().out
    assert text == "x,y\n0.1,0.1\n2.0,0.1\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    np.testing.assert_array_equal(read_columns("-", ["x"])[0].values, [0.1, 2.0])


def test_outputs_are_checked_before_the_work(tmp_path, monkeypatch):
    check_output("--out", None)
    check_output("--out", tmp_path / "a.csv")
    for path in (tmp_path / "a.xlsx", tmp_path / "none" / "a.csv"):
        with pytest.raises(ValueError, match="--out must"):
            check_output("--out", path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"need pyarrow.*pip install 'heterokit\[io\]'"):
        check_output("--out", tmp_path / "a.parquet")
