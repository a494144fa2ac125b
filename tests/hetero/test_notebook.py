"""The HTML tables for notebooks are well formed and escaped."""

from xml.etree import ElementTree

import hetero
from hetero.display.notebook import html_table


def test_a_table_is_well_formed_and_escaped():
    text = html_table("a < b", [("x & y", 0.1 + 0.2, "<script>")], ("name", "value", "note"))
    table = ElementTree.fromstring(text)
    assert table.findtext("caption") == "a < b"
    assert [cell.text for cell in table.iter("th")] == ["name", "value", "note", "x & y"]
    assert [cell.text for cell in table.iter("td")] == ["0.3", "<script>"]


def test_measurements_are_shown_as_tables_and_texts():
    with hetero.profile() as profile, hetero.region("a < b"):
        pass
    text = ElementTree.fromstring(profile._repr_html_()).text
    assert "a < b" in text
    assert text == str(profile)
    timing = hetero.Timing(1.0, 0.5, 0.5, 0.5, 5, 1, "wall", "cpu")
    assert "first call 1 s" in timing._repr_html_()
    limits = hetero.Limits("cpu", "A&B", 5e10, 5e10, 1e11, 5e10, 1e9, 1e-6)
    table = ElementTree.fromstring(limits._repr_html_())
    assert table.findtext("caption") == "Limits of cpu: A&B"
    assert table.findtext("tbody/tr/td") == "50 GB/s"
