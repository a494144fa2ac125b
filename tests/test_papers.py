"""The list of the papers' tables and figures: each has a record or a reason, and a page."""

from studies.__main__ import STUDIES
from studies.papers import DOCUMENTS, RESULTS
from studies.papers.page import PAGE, page
from studies.papers.result import RECORDS


def test_each_result_is_listed_once_and_has_a_record_or_a_reason():
    keys = [result.key for result in RESULTS]
    assert len(set(keys)) == len(keys)
    for result in RESULTS:
        assert result.document in DOCUMENTS, result.key
        assert result.records or result.remark, result.key
        assert result.study or not result.records, result.key
        for record in result.records:
            assert (RECORDS / record).exists(), (result.key, record)
        if result.study:
            assert result.study in STUDIES or result.study.startswith("benchmark "), result.key


def test_every_value_is_in_its_record():
    for result in RESULTS:
        for value in result.values:
            assert value.published is not None or value.ours is not None, result.key
            if value.ours is not None:
                sources = [source for source in (value.ours, value.over) if source]
                assert {source.record for source in sources} <= {*result.records}, result.key
                assert value.number == value.number, (result.key, value.what)  # not NaN


def test_the_page_is_that_of_the_records():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m studies papers --write`"
