"""The page docs/papers.md: every numbered result with the published value and ours."""

from __future__ import annotations

from collections.abc import Iterable

from studies.papers import DOCUMENTS, RESULTS
from studies.papers.result import ROOT, NumberedResult, Value

PAGE = ROOT / "docs" / "papers.md"

HEAD = """# Tables and figures of the papers

<!-- Written by `python -m studies papers --write`; edit studies/papers/ instead. -->

The packages implement the works below. A row stands for each of their numbered tables and figures
that shows a result; drawings of algorithms and data sheets of hardware are left out. In a clone,

```sh
python -m studies papers                        # the list, with the commands
python -m studies run "thesis table 6.3"        # makes one on this machine
python -m studies list                          # all studies, and how long they take on two cores
python -m studies all rode sbth                 # those of two packages
python -m studies all lbm --papers              # those of a package that make these results
```

A study writes a record (JSON), its tables (CSV) and pictures to `out/studies`. `all` leaves out
what has a record of the same commit, so that it goes on where it ended. A study that is interrupted
leaves the rows that it has measured in a file that ends in `-incomplete.json`.

Our values come from the records that the last column names, by the devices that those name. A dash
stands where there is no number: the document shows a curve only, or nothing here corresponds to
it. Where ours is other work than theirs, it says so in parentheses; every remark says what else
differs, or what is missing. The second column says where it is printed: the page in the thesis,
and the page of the numbers if its text has them; in an article the section, because the pages of
the journal differ from those of the authors' manuscript.
"""


def page() -> str:
    """Return the text of the page."""
    made = sum(1 for result in RESULTS if result.records)
    sections = [_section(key, title) for key, title in DOCUMENTS.items()]
    count = f"Of {len(RESULTS)} results, {made} have a record.\n"
    return "\n".join([HEAD, count, *sections])


def _section(key: str, title: str) -> str:
    lines = [f"## {title}", "", f"The key of this document is `{key}`.", ""]
    lines += [
        "| number | place | subject | published | here | made by; remark |",
        "|---|---|---|---|---|---|",
    ]
    for result in RESULTS:
        if result.document == key:
            lines += _rows(result)
    return "\n".join([*lines, ""])


def _rows(result: NumberedResult) -> Iterable[str]:
    """Yield the rows of a result: one for each value, the first with the rest of the texts."""
    command = f"`{result.command}`" if result.command else "no command"
    records = ", ".join(f"`{name}`" for name in result.records)
    last = "; ".join(text for text in (command, records, result.remark) if text)
    if not result.values:
        yield f"| {result.number} | {result.place} | {result.subject} | - | - | {last} |"
    for index, value in enumerate(result.values):
        first = (result.number, result.place, result.subject, last) if index == 0 else ("",) * 4
        number, place, subject, end = first
        text = f"{subject}: {value.what}" if subject else value.what
        yield f"| {number} | {place} | {text} | {_published(value)} | {_ours(value)} | {end} |"


def _published(value: Value) -> str:
    if value.published is None:
        return "-"
    number = _with_unit(value.published, value.unit)
    return f"{number} ({value.hardware})" if value.hardware else number


def _ours(value: Value) -> str:
    if value.ours is None:
        return "-"
    number = _with_unit(value.number, value.unit)
    return f"{number} ({value.differs})" if value.differs else number


def _with_unit(number: float, unit: str) -> str:
    """Return a number to four digits with its unit."""
    text = f"{number:,.4g}" if 1e-3 <= abs(number) < 1e7 or number == 0 else f"{number:.3g}"
    return f"{text} {unit}".strip()
