"""The tour's page: one self-contained HTML file, for small and large screens, light or dark."""

from __future__ import annotations

import base64
import importlib.util
import re
from html import escape
from pathlib import Path

from _shared import Figure, Row

ROOT = Path(__file__).resolve().parents[1]

TOPICS = {
    "stable_distributions": ("stablegpu", "Stable distributions"),
    "lattice_boltzmann": ("lbm", "Flows"),
    "random_odes": ("rode", "Random differential equations"),
    "eigenvalues": ("sbth", "Eigenvalues"),
    "correct_rounding": ("tmd", "Correct rounding"),
}
"""Package and heading of each folder of examples, in the order of the page."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1b2129; --soft: #5b6570; --line: #dfe3e8; --card: #fff;
  --back: #f5f6f8; --link: #3a53b0; --good: #15743b; --bad: #b3261e; --good-back: #e2f3e8;
  --bad-back: #fbe4e2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa5b1; --line: #333b45;
  --card: #1c222a; --back: #13171c; --link: #9db1ff; --good: #7fd6a0; --bad: #ff9d94;
  --good-back: #193525; --bad-back: #43211f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1rem 3rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .7rem; }
h2 code { font-size: .9rem; font-weight: 400; color: var(--soft); margin-left: .4rem; }
h3 { font-size: 1.05rem; margin: 0 0 .7rem; }
p { margin: 0 0 .7rem; max-width: 46rem; }
a { color: var(--link); }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin-top: 1rem; }
section, figure { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
section { padding: .3rem 1rem; overflow-x: auto; }
figure { margin: 0 0 1rem; padding: 1rem; }
.picture { overflow-x: auto; border-radius: 6px; background: #fff; }
.picture img { display: block; width: 100%; height: auto; }
figcaption { font-size: .95rem; margin-top: .8rem; max-width: 46rem; }
figcaption p { margin: .5rem 0 0; color: var(--soft); }
pre { margin: .3rem 0 0; padding: .5rem .8rem; background: var(--back); border-radius: 6px;
  white-space: pre-wrap; color: var(--ink); }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; padding: .55rem 1rem .55rem 0; vertical-align: top; }
tr + tr > *, thead + tbody > tr > * { border-top: 1px solid var(--line); }
thead th, tbody th { color: var(--soft); font-weight: 600; }
.figure { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.jobs td:first-child { min-width: 13rem; }
.jobs td:nth-child(4) { max-width: 10rem; }
.jobs td:nth-child(4) .note { white-space: normal; }
.check { min-width: 20rem; }
.note { display: block; color: var(--soft); font-size: .87rem; }
.sources { padding-left: 1.2rem; font-size: .92rem; }
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
  .jobs td:first-child { font-weight: 600; min-width: 0; }
  .jobs td:nth-child(4) { max-width: none; }
  .check { min-width: 0; }
  .jobs td:first-child::before { display: none; }
  figure { padding: .8rem; }
  .facts th { white-space: nowrap; }
}
"""


def write_page(
    path: Path,
    rows: list[Row],
    figures: dict[str, list[Figure]],
    facts: dict,
    limits: list,
    seconds: float,
    programs: Path,
) -> Path:
    """Write the page of one tour and return its path.

    Parameters
    ----------
    figures : pictures by the folder of their example
    facts : the result of `hetero.facts()`
    limits : `hetero.Limits` of each device
    seconds : how long the tour took
    programs : folder of the programs `python`, `stablegpu`, ...
    """
    shown = [folder for folder in TOPICS if figures.get(folder)]
    keys = [key for folder in shown for figure in figures[folder] for key in figure.sources]
    sources = load_sources(keys)
    body = "\n".join(
        (
            "<h1>The tour of heterokit</h1>",
            _introduction(rows, facts, seconds, programs),
            _contents(shown),
            *(_topic(folder, figures[folder], sources, programs) for folder in shown),
            '<h2 id="numbers">What ran, how fast, and whether it is right</h2>',
            "<p>A rate is the median of several runs after the first, which compiles. The share is "
            "that of the limit below it, measured on this machine for large arrays; small ones "
            "that fit into a cache can exceed it. A check compares with a truth that does not come "
            "from the code that is checked; what is allowed stands below.</p>",
            _jobs(rows),
            '<h2 id="machine">This machine</h2>',
            _facts(facts),
            "<h2>Its measured limits</h2>",
            _limits(limits),
            '<h2 id="sources">Sources</h2>',
            _sources(sources),
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


def load_sources(keys: list[str]) -> dict[str, str]:
    """Return the entries of docs/references.bib with these keys, as HTML."""
    path = ROOT / "tools/site/bibliography.py"
    spec = importlib.util.spec_from_file_location("bibliography", path)
    assert spec is not None
    assert spec.loader is not None
    bibliography = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bibliography)
    entries = bibliography.read_entries(ROOT / "docs/references.bib")
    if unknown := set(keys) - set(entries):
        raise KeyError(f"docs/references.bib has no entries {sorted(unknown)}")
    texts = {key: bibliography.format_entry(entries[key]) for key in entries if key in keys}
    return {key: _html(text) for key, text in texts.items()}


def _html(markdown: str) -> str:
    """Return an entry of the bibliography as HTML: emphasis and links."""
    text = re.sub(r"\[([^]]*)\]\(([^)]*)\)", r'<a href="\2">\1</a>', escape(markdown))
    text = re.sub(r"&lt;(https?://\S+?)&gt;", r'<a href="\1">\1</a>', text)
    return re.sub(r"\*([^*]+)\*", r"<i>\1</i>", text)


def _introduction(rows: list[Row], facts: dict, seconds: float, programs: Path) -> str:
    passed = sum(row.passed for row in rows)
    badge = _badge(passed == len(rows), f"{passed} of {len(rows)} checks passed")
    devices = ", ".join(dict.fromkeys(row.device for row in rows))
    gpus = ", ".join(gpu["name"] for gpu in facts["gpus"]) or "no GPU"
    date = facts["date"][:16].replace("T", " ") + " UTC"
    return (
        "<p>heterokit is five packages of numerical kernels for CPUs and NVIDIA GPUs. All pictures "
        f"and numbers on this page were computed on this machine ({escape(facts['cpu'])}, "
        f"{facts['threads']} threads; {escape(gpus)}) in {seconds:.0f} s, {escape(date)}. The "
        "first tour takes longer than the next, because it compiles.</p>"
        f"<p>{badge} on {escape(devices)}. The pictures come first, each with the command to try "
        'next; then <a href="#numbers">the numbers</a>: every job with its speed, the share of '
        "what this machine can do, and the comparison with a known truth.</p>"
        "<p>To do work of your own, go on with <code>docs/first-minutes.md</code>: a few commands "
        f"for each kind of user. <code>{escape(str(programs / 'python'))} -m hetero</code> shows "
        "your devices, and <code>make docs</code> builds a site with guides and tutorials.</p>"
    )


def _contents(shown: list[str]) -> str:
    links = [f'<a href="#{TOPICS[folder][0]}">{TOPICS[folder][1]}</a>' for folder in shown]
    links += (f'<a href="#{name.lower()}">{name}</a>' for name in ("Numbers", "Machine", "Sources"))
    return f"<nav>{''.join(links)}</nav>"


def _topic(folder: str, figures: list[Figure], sources: dict[str, str], programs: Path) -> str:
    package, heading = TOPICS[folder]
    pictures = "\n".join(_figure(figure, sources, programs) for figure in figures)
    return f'<h2 id="{package}">{heading}<code>{package}</code></h2>\n{pictures}'


def _badge(good: bool, text: str) -> str:
    return f'<span class="badge {"pass" if good else "fail"}">{escape(text)}</span>'


def _jobs(rows: list[Row]) -> str:
    names = ("job", "device", "rate", "of the limit", "check")
    table_rows = []
    for row in rows:
        share = escape(row.share_text)
        if row.limit:
            share += f'<span class="note">{escape(row.limit)}</span>'
        check = escape(row.check)
        if row.tolerance:
            check += f'<span class="note">allowed: {escape(row.tolerance)}</span>'
        cells = (
            ("", escape(row.job)),
            ("", escape(row.device)),
            ("figure", escape(row.rate_text)),
            ("figure", f"<span>{share}</span>"),
            ("check", f"<span>{_badge(row.passed, row.verdict)} {check}</span>"),
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


def _figure(figure: Figure, sources: dict[str, str], programs: Path) -> str:
    data = base64.b64encode(figure.path.read_bytes()).decode("ascii")
    title = escape(figure.title)
    lines = [escape(figure.caption)]
    if figure.command:
        command = escape(f"{programs}/{figure.command}")
        lines.append(f"<p>Try next:</p><pre><code>{command}</code></pre>")
    if figure.sources:
        links = (f'<a href="#{key}">{_short_name(sources[key])}</a>' for key in figure.sources)
        lines.append(f"<p>Sources: {'; '.join(links)}</p>")
    return (
        f'<figure><h3>{title}</h3><div class="picture">'
        f'<img alt="{title}" src="data:image/png;base64,{data}"></div>'
        f"<figcaption>{''.join(lines)}</figcaption></figure>"
    )


def _short_name(entry: str) -> str:
    """Return the family names of one or two authors, or of the first, and the year of an entry."""
    authors, _, rest = entry.partition(" (")
    names = [author.partition(",")[0].strip() for author in authors.split(";")]
    shown = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{shown} ({rest.partition(')')[0]})"


def _sources(sources: dict[str, str]) -> str:
    items = "\n".join(f'<li id="{key}">{text}</li>' for key, text in sources.items())
    return f'<section><ul class="sources">{items}</ul></section>'


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
