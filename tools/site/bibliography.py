"""The list of references, from docs/references.bib."""

from __future__ import annotations

import re
from pathlib import Path

ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}", re.M | re.S)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*?)\},?\s*$", re.M)


def read_entries(path: Path) -> dict[str, dict[str, str]]:
    """Return the fields of all entries by their keys, in the order of first author and year."""
    entries = {}
    for _, key, body in ENTRY.findall(path.read_text(encoding="utf-8")):
        fields = {name.lower(): clean(text) for name, text in FIELD.findall(body)}
        entries[key] = fields
    order = sorted(entries, key=lambda k: (entries[k].get("author", k), entries[k].get("year", "")))
    return {key: entries[key] for key in order}


def make_list(path: Path) -> str:
    """Return one Markdown item for each entry, with its key as an anchor."""
    return "\n".join(
        f'- <span id="{key}"></span>{format_entry(fields)}'
        for key, fields in read_entries(path).items()
    )


def clean(text: str) -> str:
    """Return the text without TeX's braces and dashes."""
    return re.sub(r"[{}]", "", text).replace("--", "–").replace("\\&", "&").replace("*", "\\*")


def format_entry(fields: dict[str, str]) -> str:
    """Return authors, year, title, where it appeared, and a link, in Markdown."""
    authors = fields.get("author", "").replace(" and ", "; ")
    place = ", ".join(
        fields[name]
        for name in ("journal", "booktitle", "school", "publisher", "institution")
        if name in fields
    )
    volume = fields.get("volume", "") + (f"({fields['number']})" if "number" in fields else "")
    details = ", ".join(filter(None, (place, volume, fields.get("pages", ""))))
    line = f"{authors} ({fields.get('year', 'n. d.')}). *{fields.get('title', '')}*."
    if details:
        line += f" {details}."
    if "doi" in fields:
        line += f" [doi:{fields['doi']}](https://doi.org/{fields['doi']})"
    elif "url" in fields:
        line += f" <{fields['url']}>"
    return line
