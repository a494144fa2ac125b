"""The tour's page: one self-contained HTML file, for small and large screens, light or dark."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from _shared import Figure, Row

_STYLE = """
:root { color-scheme: light dark; --ink: #1b2129; --soft: #5b6570; --line: #dfe3e8; --card: #fff;
  --back: #f5f6f8; --good: #15743b; --bad: #b3261e; --good-back: #e2f3e8; --bad-back: #fbe4e2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa5b1; --line: #333b45;
  --card: #1c222a; --back: #13171c; --good: #7fd6a0; --bad: #ff9d94; --good-back: #193525;
  --bad-back: #43211f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .7rem; }
h3 { font-size: 1rem; margin: 0 0 .6rem; }
p { margin: 0; color: var(--soft); }
section, figure { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
section { padding: .3rem 1rem; overflow-x: auto; }
figure { margin: 0 0 1rem; padding: 1rem; }
.picture { overflow-x: auto; border-radius: 6px; background: #fff; }
.picture img { display: block; width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .92rem; margin-top: .7rem; max-width: 48rem; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; padding: .55rem 1rem .55rem 0; vertical-align: top; }
tr + tr > *, thead + tbody > tr > * { border-top: 1px solid var(--line); }
thead th, tbody th { color: var(--soft); font-weight: 600; }
.figure { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.note { display: block; color: var(--soft); font-size: .85rem; }
.badge { display: inline-block; padding: 0 .55rem; border-radius: 1rem; font-weight: 600;
  font-size: .85rem; }
.pass { color: var(--good); background: var(--good-back); }
.fail { color: var(--bad); background: var(--bad-back); }
@media (max-width: 700px) {
  main { padding-top: 1.2rem; }
  .jobs thead { display: none; }
  .jobs tr { display: block; padding: .7rem 0; border-top: 1px solid var(--line); }
  .jobs tr:first-child { border-top: 0; }
  .jobs tr > td { display: flex; gap: 1rem; border: 0; padding: .12rem 0; text-align: left; }
  .jobs td::before { content: attr(data-label); flex: 0 0 5.8rem; color: var(--soft); }
  .jobs td:first-child { font-weight: 600; }
  .jobs td:first-child::before { display: none; }
  .picture img { width: 44rem; max-width: none; }
  .facts th { white-space: nowrap; }
}
"""


def write_page(
    path: Path, rows: list[Row], figures: list[Figure], facts: dict, limits: list, seconds: float
) -> Path:
    """Write the page of one tour and return its path.

    Parameters
    ----------
    facts : the result of `hetero.facts()`
    limits : `hetero.Limits` of each device
    seconds : how long the tour took
    """
    passed = sum(row.passed for row in rows)
    badge = _badge(passed == len(rows), f"{passed} of {len(rows)} checks passed")
    devices = ", ".join(dict.fromkeys(row.device for row in rows))
    date = facts["date"][:16].replace("T", " ") + " UTC"
    body = "\n".join(
        (
            "<h1>The tour of heterokit</h1>",
            f"<p>{badge} on {escape(devices)} in {seconds:.0f} s, {escape(date)}</p>",
            "<h2>What ran, how fast, and whether it is right</h2>",
            _jobs(rows),
            "<h2>Figures</h2>" if figures else "",
            *map(_figure, figures),
            "<h2>This machine</h2>",
            _facts(facts),
            "<h2>Its measured limits</h2>",
            _limits(limits),
        )
    )
    path.write_text(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>The tour of heterokit</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n",
        encoding="utf-8",
    )
    return path


def _badge(good: bool, text: str) -> str:
    return f'<span class="badge {"pass" if good else "fail"}">{escape(text)}</span>'


def _jobs(rows: list[Row]) -> str:
    names = ("job", "device", "rate", "of the limit", "check")
    table_rows = []
    for row in rows:
        share = escape(row.share_text)
        if row.limit:
            share += f'<span class="note">{escape(row.limit)}</span>'
        cells = (
            ("", escape(row.job)),
            ("", escape(row.device)),
            ("figure", escape(row.rate_text)),
            ("figure", f"<span>{share}</span>"),
            ("", f"<span>{_badge(row.passed, row.verdict)} {escape(row.check)}</span>"),
        )
        table_rows.append(
            "".join(
                f'<td class="{kind}" data-label="{name}">{text}</td>'
                for name, (kind, text) in zip(names, cells, strict=True)
            )
        )
    head = "".join(
        f'<th class="{"figure" if name in ("rate", "of the limit") else ""}">{name}</th>'
        for name in names
    )
    lines = "\n".join(f"<tr>{cells}</tr>" for cells in table_rows)
    return (
        f'<section><table class="jobs"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{lines}</tbody></table></section>"
    )


def _figure(figure: Figure) -> str:
    data = base64.b64encode(figure.path.read_bytes()).decode("ascii")
    title = escape(figure.title)
    return (
        f'<figure><h3>{title}</h3><div class="picture">'
        f'<img alt="{title}" src="data:image/png;base64,{data}"></div>'
        f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
    )


def _facts(facts: dict) -> str:
    lines = {
        "processor": f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads used",
        "system": facts["system"],
        "versions": ", ".join(f"{name} {number}" for name, number in facts["versions"].items()),
        "commit": facts["commit"] or "not a git checkout",
    }
    for index, gpu in enumerate(facts["gpus"]):
        details = (f"{k.replace('_', ' ')} {v}" for k, v in gpu.items() if k != "name" and v)
        lines[f"cuda:{index}"] = ", ".join((gpu["name"], *details))
    if not facts["gpus"]:
        lines["GPU"] = "none usable (python -m hetero says why)"
    cells = "\n".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(text))}</td></tr>"
        for name, text in lines.items()
    )
    return f'<section><table class="facts"><tbody>{cells}</tbody></table></section>'


def _limits(limits: list) -> str:
    head = "".join(f'<th class="figure">{escape(measured.device)}</th>' for measured in limits)
    lines = []
    for cells in zip(*(measured.rows() for measured in limits), strict=True):
        figures = "".join(f'<td class="figure">{escape(figure)}</td>' for _, figure in cells)
        lines.append(f"<tr><th>{escape(cells[0][0])}</th>{figures}</tr>")
    return (
        f"<section><table><thead><tr><th></th>{head}</tr></thead>\n"
        f"<tbody>{''.join(lines)}</tbody></table></section>"
    )
