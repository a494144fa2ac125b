"""Columns of numbers from files and to files."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from hetero.data_files import Column, find_present, open_table, sort_by_date, write_columns


def read_columns(source, keys=(), every=False, **layout):
    return open_table(source, **layout).columns(keys, every=every)


def save(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(("text", "key", "values"), [
    ("date,close\n2020-01-01,1.5\n2020-01-02,2\n", "2", [1.5, 2.0]),
    ("# comment\n\na;b\n1;2\n3;\n", "b", [2.0, np.nan]),
    ("a\tb\n1\tNA\n2\t-1e3\n", "b", [np.nan, -1000.0]),
    ('"a, b",c\n"1.5",2\n', "a, b", [1.5]),
    ("a,b\n1,2 # two\n# none\n3,4\n", "b", [2.0, 4.0]),
    ("n,#trades\n1,2\n3,4\n", "#trades", [2.0, 4.0]),
])  # fmt: skip
def test_text_is_read_with_and_without_headings(tmp_path, text, key, values):
    (column,) = read_columns(save(tmp_path, "a.csv", text), [key])
    np.testing.assert_array_equal(column.values, values)


@pytest.mark.parametrize(("text", "layout", "values", "assumed"), [
    ("a;b\n1.234,5;2\n0,5;3\n", {}, [1234.5, 0.5], "decimal commas, thousands marked by '.'"),
    ('a,b\n"1,234.5","2,000"\n"3.5",1\n', {}, [1234.5, 3.5], "thousands marked by ','"),
    ("a;b\n1\u00a0234,5;2,75\n3,5;1\n", {}, [1234.5, 3.5], "decimal commas"),
    ("1,5 2,5\n3,5   6\n", {}, [1.5, 3.5], "decimal commas"),
    ("a;b;\n1,5;2;\n3;4;\n", {}, [1.5, 3.0], "decimal commas"),
    ("a;b\n1,234;2\n", {"decimal": ","}, [1.234], "decimal commas"),
    ("a;b\n1,234;2\n", {"decimal": "."}, [1234.0], "thousands marked by ','"),
    ("a_1.5\nb_2.5\n", {"delimiter": "_"}, None, ""),
    ("x\n0.1234567890123456789\n1e-310\n", {}, [0.12345678901234568, 1e-310], ""),
])  # fmt: skip
def test_numbers_are_read_as_people_write_them(tmp_path, text, layout, values, assumed):
    table = open_table(save(tmp_path, "a.csv", text), **layout)
    assert table.assumptions.startswith(assumed)
    if values is not None:
        np.testing.assert_array_equal(table.columns(["1"])[0].values, values)


@pytest.mark.parametrize(("text", "message"), [
    ("a;b\n1,234;2\n", "line 2: '1,234' may have a decimal comma .*--decimal"),
    ("day,close\n2020-01-01,1,5\n", "line 2 has 3 fields between ',', the first line 2"),
    ("a,b\n" + "1,2\n" * 300 + "1,2,5\n", "line 302 has more than 2 fields"),
    ("a;b\n" + "2;1\n" * 300 + "2,5;1\n", "line 302: '2,5' .*Remedy: --decimal ,"),
    ("a;b\n1,2.5;1\n1,5;1\n", "commas and points may have"),
    ("x,x\n1,2\n", "more than one column is called 'x': pass its number"),
])  # fmt: skip
def test_numbers_with_two_readings_are_refused(tmp_path, text, message):
    key = "x" if text.startswith("x") else "1"
    with pytest.raises(ValueError, match=message):
        read_columns(save(tmp_path, "a.csv", text), [key])


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_compressed_text_is_read(tmp_path, suffix):
    import bz2
    import gzip
    import lzma

    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(pack(b"x\n1.5\n2\n"))
    np.testing.assert_array_equal(read_columns(path)[0].values, [1.5, 2.0])
    path.write_bytes(pack(b"x\n1.5\n2\n" * 1000)[:-20])
    with pytest.raises(ValueError, match=str(path)):
        read_columns(path, ["x"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_of_excel_are_read(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("Tag;Schlußkurs\n31.12.2020;1,5\n".encode(encoding))
    (column,) = read_columns(path)
    assert column.name == "Schlußkurs"
    np.testing.assert_array_equal(column.values, [1.5])


def test_columns_without_numbers_are_named(tmp_path):
    table = open_table(
        save(tmp_path, "a.csv", "date,name,x,y\n2020-01-01,b,,1\n2020-01-02,c,2,3\n")
    )
    assert table.kinds == ["date", "other", "number", "number"]
    assert table.others() == ["date", "name"]
    assert [c.name for c in table.columns(every=True)] == ["x", "y"]


@pytest.mark.parametrize("texts", [
    ("2020-12-31", "2021-01-01"), ("31.12.2020", "01.01.2021"), ("31/12/2020", "01/01/2021"),
    ("2020-12-31T00:00:00+00:00", "2021-01-01T00:00:00+00:00"),
])  # fmt: skip
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_dates_are_read_however_they_are_written(tmp_path, texts, suffix):
    path = tmp_path / f"a{suffix}"
    write_columns(path, {"Date": np.array(texts), "x": np.ones(2)})
    dates = open_table(path).dates()
    assert dates.name == "Date"
    np.testing.assert_array_equal(dates.values, np.array(["2020-12-31", "2021-01-01"], "M8[us]"))


def test_dates_with_two_readings_are_refused(tmp_path):
    text = "Date,x\n01/02/2020,1\n03/04/2020,2\n"
    with pytest.raises(ValueError, match="day and month in column 'Date' cannot be told apart"):
        open_table(save(tmp_path, "a.csv", text)).dates()
    text = "Date,x\n01/02/2020,1\n02/01/2020,2\n03/01/2020,2\n"  # in order as months first only
    dates = open_table(save(tmp_path, "b.csv", text)).dates()
    assert str(dates.values[0])[:10] == "2020-01-02"


def test_rows_are_put_in_the_order_of_their_dates():
    days = np.array(["2020-01-03", "2020-01-02", "2020-01-02", "2020-01-01"], "M8[D]")
    np.testing.assert_array_equal(sort_by_date("a", days), [3, 2, 1, 0])
    np.testing.assert_array_equal(sort_by_date("a", days[::-1]), [0, 1, 2, 3])
    np.testing.assert_array_equal(sort_by_date("a", days[[0, 3, 1]]), [1, 2, 0])
    with pytest.raises(ValueError, match="2020-01-02 occurs more than once"):
        sort_by_date("a", days[[1, 0, 2]])


def test_the_only_column_of_numbers_needs_no_name(tmp_path):
    path = save(tmp_path, "c.csv", "a,b\n1,2\n")  # a heading goes before a number
    assert [c.name for c in read_columns(path, ["2", "a"])] == ["b", "a"]
    path = save(tmp_path, "a.csv", "day,x\nMonday,1\nTuesday,2\n")
    assert read_columns(path)[0].name == "x"
    assert [c.name for c in read_columns(path, every=True)] == ["x"]
    with pytest.raises(ValueError, match="no column holds numbers"):
        read_columns(save(tmp_path, "c.csv", "a\nMonday\n"), every=True)
    with pytest.raises(ValueError, match=r"choose a column .* 'a' \(1\), 'b' \(2\)"):
        read_columns(save(tmp_path, "b.csv", "a,b\n1,2\n"))


@pytest.mark.parametrize(("name", "content", "message"), [
    ("a.csv", b"", "holds no data"), ("a.csv", b"a,b\n", "headings, but no numbers"),
    ("a.csv", b"a,b\n1,2\n1,two\n", "line 3: 'two' in column 'b' is not a number"),
    ("a.csv", b"\xff\xfe\x00", "no text file"), ("a.npy", b"a,b\n", "no NumPy file"),
])  # fmt: skip
def test_errors_name_the_file_and_the_place(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        read_columns(path, ["2"])
    assert str(path) in str(error.value)


def test_missing_values_are_left_out_on_request():
    column = Column("x", np.array([1.0, np.nan, 2.0]))
    with pytest.raises(ValueError, match=r"lacks 1 of 3 values, the first in row 2 .*skip-missing"):
        find_present(column, "a.csv", False)
    np.testing.assert_array_equal(find_present(column, "a.csv", True), [True, False, True])


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet"])
def test_what_is_written_is_read_again(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    columns = {
        "x": np.array([1 / 3, np.nan, np.inf]),
        "n, of": np.arange(3),
        "s": np.array(["a", "", "c"]),
    }
    path = tmp_path / f"a{suffix}"
    write_columns(path, columns)
    for column in read_columns(path, ["1", "2"]):
        np.testing.assert_array_equal(column.values, columns[column.name])
    assert open_table(path).names == list(columns)


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


def test_a_row_of_totals_below_dates_is_refused(tmp_path):
    path = tmp_path / "prices.csv"
    rows = [f"2024-01-{day:02},{day}" for day in range(1, 21)]
    path.write_text("\n".join(["date,close", *rows, "Total,210"]))
    with pytest.raises(ValueError, match="rows such as those of totals"):
        open_table(path).dates()
