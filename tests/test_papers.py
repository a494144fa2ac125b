"""The list of the papers' tables and figures: each has a record or a reason, and a page."""

import pytest

from studies.__main__ import STUDIES, find_studies
from studies.papers import DOCUMENTS, RESULTS, find
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


def test_no_numbered_result_is_missing():
    """Drawings of algorithms and data sheets of hardware have no row."""
    numbers = {
        "gpu-stable": {"table": range(2, 11), "figure": range(7, 15)},
        "libstable": {"table": range(1, 4), "figure": (3, 4)},
        "hard-cases": {"table": range(1, 8), "figure": (3, 6)},
        "log-ndtr": {"table": (1,), "figure": (1, 2)},
    }
    chapters = {
        "table": {6: (2, 3), 8: range(1, 5), 12: range(1, 5), 16: (1, 2)},
        "figure": {4: range(2, 5), 6: range(1, 6), 8: range(4, 9), 9: (5,), 10: (2, 3),
                   12: range(1, 8), 16: range(1, 15)},
    }  # fmt: skip
    wanted = {
        f"{document} {kind} {number}"
        for document, kinds in numbers.items()
        for kind, counted in kinds.items()
        for number in counted
    } | {
        f"thesis {kind} {chapter}.{number}"
        for kind, counted in chapters.items()
        for chapter, counts in counted.items()
        for number in counts
    }
    assert {result.key for result in RESULTS} == wanted


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


def test_results_are_found_by_their_numbers():
    assert [result.key for result in find("Thesis Table 6.3")] == ["thesis table 6.3"]
    assert [result.key for result in find("figure 12.7")] == ["thesis figure 12.7"]
    assert find("table 6.33") == []
    names = ["thesis figure 12.5", "figure 12.6", "rode-quality"]
    assert find_studies(names) == ["rode-expectation", "rode-quality"]
    for name, message in {
        "table 5": "'gpu-stable table 5', 'hard-cases table 5'",
        "table 8.7": "neither a study",
        "thesis figure 16.3": "benchmarks run lbm",
    }.items():
        with pytest.raises(ValueError, match=message):
            find_studies([name])
