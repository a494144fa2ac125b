"""Numbers as people write them, gaps as programs name them, JSON, Excel, HTML and LaTeX files."""

import sys

import numpy as np
import pandas as pd
import pytest

from hetero.data_files import check_output, open_table, write_columns


def read(folder, text, *keys, name="a.csv", **layout):
    (folder / name).write_text(text, encoding="utf-8")
    return open_table(folder / name, **layout).columns(keys)[0].values


@pytest.mark.parametrize(("text", "values", "assumed"), [
    ("x\n1.2%\n-50 %\n0\n", [0.012, -0.5, 0.0], "percentages as fractions"),
    ("x;y\n1,5%;1\n(2,25%);1\n", [0.015, -0.0225], "decimal commas, percentages"),
    ("x\n\u22121.5\n2\n", [-1.5, 2.0], ""),
    ("\u22121,5 2,5\n3,5 6\n", [-1.5, 3.5], "decimal commas"),
    ('x,y\n"(1,234.5)",1\n', [-1234.5], "thousands marked by ','"),
])  # fmt: skip
def test_signs_and_percentages(tmp_path, text, values, assumed):
    np.testing.assert_allclose(read(tmp_path, text, "1"), values, rtol=1e-15)
    assert open_table(tmp_path / "a.csv").assumptions.startswith(assumed)


def test_missing_values_of_spreadsheets_and_of_the_user(tmp_path):
    for text in ("#NV", "#N/A", "n.a.", "N.A.", "-", "#N/D", "\u2013", "Null"):
        for form in (f"x;y\n{text};1\n1,5;2\n", f"y;x\n1;{text}\n2;1,5\n"):
            np.testing.assert_array_equal(read(tmp_path, form, "x"), [np.nan, 1.5])
    text = "x;y # two columns\n#N/A;1 # a gap\n# none\n2;#N/A # another\n"
    np.testing.assert_array_equal(read(tmp_path, text, "x"), [np.nan, 2.0])
    np.testing.assert_array_equal(read(tmp_path, text, "y"), [1.0, np.nan])
    text = "x,y\n-999,1\nUnknown,2\n3,#DIV/0!\n"
    with pytest.raises(ValueError, match=r"line 3: 'Unknown' .*Remedy: --missing 'Unknown'"):
        read(tmp_path, text, "x")
    found = read(tmp_path, text, "x", missing=["-999", "unknown"])
    np.testing.assert_array_equal(found, [np.nan, np.nan, 3.0])
    with pytest.raises(ValueError, match="'#DIV/0!' in column 'y'"):
        read(tmp_path, text, "y")


def test_what_cannot_be_columns_is_refused_with_a_remedy(tmp_path):
    at2 = "PEER NGA STRONG MOTION\nKERN 1952\nACCELERATION\nNPTS= 4, DT= .01 SEC\n .1 .2 .3\n .4\n"
    older = at2.replace("NPTS= 4, DT= .01 SEC", "4 0.0100 NPTS, DT")
    for text in (at2, older):
        with pytest.raises(ValueError, match=r"record of a ground motion .* rode"):
            read(tmp_path, text, "1", name="a.AT2")
    with pytest.raises(ValueError, match=r"percentages and numbers without % \(lines 4 and 5\)"):
        read(tmp_path, "x\n-\n0\n1%\n2\n", "x")
    with pytest.raises(ValueError, match=r"a.json: this is no JSON array"):
        read(tmp_path, "[1, 2", name="a.json")
    np.testing.assert_array_equal(read(tmp_path, "[m]\n1\n2\n"), [1.0, 2.0])
    (tmp_path / "a.xlsx").write_text("x\n1\n")
    with pytest.raises(ValueError, match=r"a.xlsx: this is no .xlsx workbook"):
        open_table(tmp_path / "a.xlsx")


@pytest.mark.parametrize("text", [
    "[0.1, null, -3e-7]", "[[0.1, 1], [null, 2], [-3e-7, 3]]",
    '[{"x": 0.1, "day": "2020-01-01"}, {"x": null}, {"x": -3e-7}]',
    ' {"x": [0.1, null, "\u22123e-7"], "name": ["a, b", "c", "\\n"]}',
])  # fmt: skip
def test_json_is_read(tmp_path, text):
    key = "x" if "x" in text else "1"
    np.testing.assert_array_equal(read(tmp_path, text, key, name="a.json"), [0.1, np.nan, -3e-7])


def test_sheets_of_excel_are_read(tmp_path):
    path = tmp_path / "prices.xlsx"
    days, texts = pd.bdate_range("2020-01-01", periods=4), ["1,5", "n.a.", "2,5", "#NV"]
    frame = pd.DataFrame({"Datum": days, "leer": None, "Kurs": [1.5, None, 1 / 3, 2], "T": texts})
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="Kurse", index=False, startrow=2, startcol=1)
        pd.DataFrame({"a": [1]}).to_excel(book, sheet_name="Notes")
    table = open_table(path, decimal=".")
    assert table.assumptions == "sheet 'Kurse', the first of 2"
    assert table.kinds == ["date", "other", "number", "other"]
    np.testing.assert_array_equal(table.columns(["Kurs"])[0].values, [1.5, np.nan, 1 / 3, 2.0])
    np.testing.assert_array_equal(table.dates().values, frame["Datum"].to_numpy())
    pd.DataFrame({"Kurs": [1.5, None, 2.0]}).to_excel(path, index=False)
    np.testing.assert_array_equal(open_table(path).columns()[0].values, [1.5, np.nan, 2.0])


def test_tables_are_written_for_people(tmp_path):
    columns = {"x_1": np.array([1 / 3, np.nan, 1e-9]), "s": np.array(["a & b", "", "c"])}
    for suffix in (".xlsx", ".html", ".tex"):
        check_output("--out", tmp_path / f"a{suffix}")
        write_columns(tmp_path / f"a{suffix}", columns)
    found = open_table(tmp_path / "a.xlsx").columns(["x_1"])[0].values
    np.testing.assert_array_equal(found, columns["x_1"])
    assert "<td>0.333333</td>" in (tmp_path / "a.html").read_text()
    text = (tmp_path / "a.tex").read_text()
    assert all(part in text for part in (r"x\_1", r"0.333333 & a \& b", "1e-09 & c", r"\toprule"))


@pytest.mark.parametrize(("suffix", "package", "message"), [
    (".xlsx", "openpyxl", r"need openpyxl.*pip install 'heterokit\[excel\]'"),
    (".tex", "jinja2", "LaTeX by jinja2.*pip install jinja2"),
    (".parquet", "pyarrow", r"need pyarrow.*pip install 'heterokit\[io\]'"),
])  # fmt: skip
def test_packages_that_lack_are_named(tmp_path, monkeypatch, suffix, package, message):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=message):
        check_output("--out", tmp_path / f"a{suffix}")
