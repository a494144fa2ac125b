"""Extension of Griffe: shows descriptions that stand in the place of a type as descriptions.

The packages write `h : coarse step in s` where the annotation already says that h is a float.
Griffe would take the text for a type and print it in code; it would do so with prose about what a
function returns, line by line. Of parameters that share a description it would show the default of
the first for all. The templates beside this file show such parameters as one item.
"""

from __future__ import annotations

import re

import griffe

SECTION = re.compile(
    r"^(?P<name>Parameters|Attributes|Raises|Returns)\n-{3,}\n"
    r"(?P<body>.*?)(?=\n\n\w[\w ]*\n-{3,}\n|\Z)",
    re.M | re.S,
)
ITEM = re.compile(
    r"^(?P<names>\S[^:\n]*?) : (?P<text>\S.*)(?P<rest>(?:\n {4}.*|\n(?=\n {4}))*)", re.M
)
RANGE = re.compile(r"\w+ (?:[<>]=?|in) \S+")
"""A type with its range, such as `float > 0`, which is no description."""

MIN_WORDS = 3
"""Fewer words than these are a type, such as `float` or `(4, 4) array`."""


def move_descriptions(text: str) -> str:
    """Return a docstring in NumPy's style whose items have a description of their own."""

    def rewrite_parameter(match: re.Match) -> str:
        item = rewrite_item(match).removeprefix(match["names"])
        return "\n".join(name.strip() + item for name in match["names"].split(","))

    def rewrite_item(match: re.Match) -> str:
        rest = match["rest"].strip("\n")
        continues = re.match(r"\s+[a-z(|]", rest) is not None
        is_range = rest.strip() and RANGE.fullmatch(match["text"])
        is_type = is_range or len(match["text"].split()) < MIN_WORDS
        if is_type or (rest.strip() and not continues):
            return match[0]
        lines = "\n".join(filter(None, (f"    {match['text']}", rest)))
        return f"{match['names']}\n{lines}"

    def rewrite_section(match: re.Match) -> str:
        body = match["body"]
        if match["name"] == "Returns":
            is_prose = len(body.split()) >= MIN_WORDS and not re.search(r"^\s", body, re.M)
            lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
            return match[0].replace(body, f":\n{lines}") if is_prose else match[0]
        rewrite = rewrite_parameter if match["name"] == "Parameters" else rewrite_item
        return match[0].replace(body, ITEM.sub(rewrite, body)) if body.strip() else match[0]

    return SECTION.sub(rewrite_section, text)


class Descriptions(griffe.Extension):
    """Rewrites the docstring of every object."""

    def on_object(self, *, obj: griffe.Object, **settings: object) -> None:
        """Rewrite the docstring of `obj` before it is parsed."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = move_descriptions(obj.docstring.value)
