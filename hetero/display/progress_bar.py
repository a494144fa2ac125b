"""Progress of long work: a bar in a terminal or a notebook, and lines where stderr is piped."""

from __future__ import annotations

import contextlib
import html
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

Advance = Callable[[float], None]
"""Function that tells a bar how much work was done since its last call."""

SECONDS_BEFORE_LOOP = 0.5
"""Time after which a loop is worth a bar of its own."""

_NOTEBOOK_SECONDS = 0.2
"""Time between two updates in a notebook, each of which is a message to the browser."""


_FIRST_LINE, _LINE = 3.0, 10.0
"""Seconds until the first line where stderr is piped, and from one line to the next."""


class _Bars(Protocol):
    """Bars that are drawn together, each known by a number."""

    def add(self, description: str, total: float) -> int:
        """Draw another bar, and return its number."""

    def update(self, bar: int, done: float) -> None:
        """Show how much of a bar's total is done."""

    def remove(self, bar: int) -> None:
        """Remove a bar."""

    def close(self) -> None:
        """Stop drawing."""


class _TerminalBars(_Bars):
    """Bars that rich draws on stderr."""

    def __init__(self, transient: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        self._progress = Progress(*columns, console=Console(stderr=True), transient=transient)
        self._progress.start()

    def add(self, description: str, total: float) -> int:
        return int(self._progress.add_task(description, total=total))

    def update(self, bar: int, done: float) -> None:
        self._progress.update(bar, completed=done)  # type: ignore[arg-type]  # an int is a TaskID

    def remove(self, bar: int) -> None:
        self._progress.remove_task(bar)  # type: ignore[arg-type]

    def close(self) -> None:
        self._progress.stop()


class _NotebookBars(_Bars):
    """Bars of HTML in a notebook's cell, which need no widgets."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html, self._drawn = HTML, 0.0
        self._bars: dict[int, list[Any]] = {}
        self._count = 0
        self._handle = display(HTML(""), display_id=True)

    def add(self, description: str, total: float) -> int:
        self._count += 1
        self._bars[self._count] = [description, total, 0.0, time.perf_counter()]
        self._draw()
        return self._count

    def update(self, bar: int, done: float) -> None:
        self._bars[bar][2] = done
        if time.perf_counter() - self._drawn > _NOTEBOOK_SECONDS:
            self._draw()

    def remove(self, bar: int) -> None:
        del self._bars[bar]
        self._draw()

    def close(self) -> None:
        self._draw()

    def _draw(self) -> None:
        """Replace the HTML in the cell."""
        self._drawn = time.perf_counter()
        lines = []
        for description, total, done, begin in self._bars.values():
            share = done / total if total else 1.0
            lines.append(
                f"<div>{html.escape(description)} "
                f'<progress max="1" value="{share:.4f}"></progress> '
                f"{100.0 * share:.0f} %, {self._drawn - begin:.0f} s</div>"
            )
        self._handle.update(self._html("".join(lines)))


class _Lines(_Bars):
    """Lines on stderr for logs and pipes: how much is done, and how long the rest may take.

    A thread prints them, so that somebody who waits for a long step is told, too.
    """

    def __init__(self) -> None:
        self._works: dict[int, tuple[str, float, float]] = {}  # description, total and begin
        self._done: dict[int, float] = {}
        self._count = 0
        self._is_closed = threading.Event()
        threading.Thread(target=self._print_lines, daemon=True).start()

    def add(self, description: str, total: float) -> int:
        self._count += 1
        self._done[self._count] = 0.0
        self._works[self._count] = description, total, time.perf_counter()
        return self._count

    def update(self, bar: int, done: float) -> None:
        self._done[bar] = done

    def remove(self, bar: int) -> None:
        del self._works[bar]

    def close(self) -> None:
        self._is_closed.set()

    def _print_lines(self) -> None:
        """Print a line for each work that is not done, now and then, until the end."""
        seconds = _FIRST_LINE
        while not self._is_closed.wait(seconds):
            seconds = _LINE
            for bar, (description, total, begin) in list(self._works.items()):
                if self._done[bar] < total and sys.stderr is not None:
                    elapsed = time.perf_counter() - begin
                    line = _describe(description, self._done[bar] / total, elapsed)
                    print(line, file=sys.stderr, flush=True)


def _describe(description: str, share: float, elapsed: float) -> str:
    """Return the line about a work of which a share is done after some seconds."""
    line = f"{description}: {100.0 * share:.2g} % after {format_duration(elapsed)}"
    if share > 0.0:
        line += f", about {format_duration(elapsed * (1.0 - share) / share)} left"
    return line


def format_duration(seconds: float) -> str:
    """Return a time in seconds, minutes, hours or days, whichever reads best."""
    for size, unit in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"


class _LoopBars:
    """Bars of the loops in a `loop_progress` block; none is drawn before a loop takes long."""

    def __init__(self, description: str) -> None:
        self._description = description
        self._bars: _Bars | None = None

    def add(self, total: float) -> int:
        """Add the bar of a loop and return its number."""
        if self._bars is None:
            self._bars = _make_bars(transient=True)
        return self._bars.add(self._description, total)

    def update(self, bar: int, done: float) -> None:
        """Draw a bar with the work that is done."""
        if self._bars is not None:
            self._bars.update(bar, done)

    def remove(self, bar: int) -> None:
        """Remove the bar of a loop that has ended."""
        if self._bars is not None:
            self._bars.remove(bar)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bars is not None:
            self._bars.close()


_loop_bars: ContextVar[_LoopBars | None] = ContextVar("hetero_loop_bars", default=None)


def _make_bars(transient: bool = False) -> _Bars:
    """Return bars for this notebook or terminal, or lines; transient bars disappear at the end."""
    if "ipykernel" in sys.modules:
        return _NotebookBars()
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return _TerminalBars(transient) if is_terminal else _Lines()


@contextlib.contextmanager
def open_bar(description: str, total: float, *, enabled: bool = True) -> Iterator[Advance]:
    """Show a bar while the block runs, and yield the function that advances it.

    Parameters
    ----------
    description : str
        Text beside the bar.
    total : float
        Amount of work, in any unit.
    enabled : bool
        Whether to show anything: a bar in terminals and notebooks, else a line on stderr after 3
        seconds and then every 10 seconds.
    """
    if not enabled:
        yield lambda amount: None
        return
    bars = _make_bars()
    done, bar = 0.0, bars.add(description, total)

    def advance(amount: float) -> None:
        nonlocal done
        done += amount
        bars.update(bar, done)

    try:
        yield advance
    finally:
        bars.close()


def progress(items: Iterable[T], description: str = "", *, enabled: bool = True) -> Iterator[T]:
    """Iterate over `items` and show the progress: a bar, or lines if stderr is piped."""
    if not isinstance(items, Iterable) or getattr(items, "ndim", 1) == 0:
        raise TypeError(f"items must be iterable, got {items!r}")
    if not enabled:
        yield from items
        return
    values = items if hasattr(items, "__len__") else list(items)
    with open_bar(description, len(values)) as advance:  # type: ignore[arg-type]
        for value in values:
            yield value
            advance(1)


def loop_progress(
    description: str, *, enabled: bool = True
) -> contextlib.AbstractContextManager[None]:
    """Show the progress of each long loop over `hetero.cpu.interruptible.ranges` in the block.

    A loop gets a bar once it has run for half a second. Loops of other threads get none.
    """
    if not enabled or _loop_bars.get() is not None:
        return _NO_PROGRESS
    return _show_loops(description)


_NO_PROGRESS = contextlib.nullcontext()
"""The block of loops that show nothing; one serves all, because it has no state."""


@contextlib.contextmanager
def _show_loops(description: str) -> Iterator[None]:
    """Show a bar for each long loop in the block."""
    bars = _LoopBars(description)
    token = _loop_bars.set(bars)
    try:
        yield
    finally:
        _loop_bars.reset(token)
        bars.close()


class LoopBar:
    """The bar of one loop in a `loop_progress` block; it appears once the loop takes long."""

    def __init__(self, bars: _LoopBars, total: float) -> None:
        self._bars, self._total = bars, total
        self._begin, self._done = time.perf_counter(), 0.0
        self._number: int | None = None

    def advance(self, amount: float) -> None:
        """Report that this much more of the work is done."""
        self._done += amount
        is_long = time.perf_counter() - self._begin > SECONDS_BEFORE_LOOP
        if self._number is None and is_long and self._done < self._total:
            self._number = self._bars.add(self._total)
        if self._number is not None:
            self._bars.update(self._number, self._done)

    def close(self) -> None:
        """Remove the bar."""
        if self._number is not None:
            self._bars.remove(self._number)


def reports_loops() -> bool:
    """Return whether a `loop_progress` block around shows the progress of loops."""
    return _loop_bars.get() is not None


def loop_bar(total: float) -> LoopBar | None:
    """Return the bar of a loop, to be closed at its end; None without a `loop_progress` block."""
    bars = _loop_bars.get()
    return None if bars is None else LoopBar(bars, total)


@contextlib.contextmanager
def report_loop(total: float) -> Iterator[Advance]:
    """Yield the function by which a loop reports its work to the `loop_progress` around it."""
    bar = loop_bar(total)
    if bar is None:
        yield lambda amount: None
        return
    try:
        yield bar.advance
    finally:
        bar.close()
