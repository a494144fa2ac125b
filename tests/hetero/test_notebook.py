"""The HTML tables for notebooks are well formed and escaped."""

from xml.etree import ElementTree

from hetero.display.notebook import html_table


def test_a_table_is_well_formed_and_escaped():
    text = html_table("a < b", [("x & y", 0.1 + 0.2, "<script>")], ("name", "value", "note"))
    table = ElementTree.fromstring(text)
    assert table.findtext("caption") == "a < b"
    assert [cell.text for cell in table.iter("th")] == ["name", "value", "note", "x & y"]
    assert [cell.text for cell in table.iter("td")] == ["0.3", "<script>"]
