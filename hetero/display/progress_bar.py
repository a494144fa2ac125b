"""Progress of long work: bars in a terminal or a notebook, and lines where stderr is piped.

rich draws the bars; its notebooks need ipywidgets, without which they get lines, too.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

Advance = Callable[[float], None]
"""Function that tells a bar how much work was done since its last call."""

IGNORE: Advance = deque(maxlen=0).append  # type: ignore[assignment]
"""Advances no bar. It costs no call of Python, which loops without a bar would make."""

SECONDS_BEFORE_LOOP = 0.5
"""Time after which a loop is worth a bar of its own."""

SECONDS_BETWEEN_LINES = 10.0
"""Time between two lines about a work where stderr is piped; the first comes after that, too."""


class _Bars:
    """Bars that rich draws together."""

    def __init__(self, transient: bool) -> None:
        from rich.console import Console
        from rich.progress import Progress, TimeRemainingColumn

        columns = (
            *Progress.get_default_columns()[:3],
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        self._progress = Progress(*columns, console=Console(stderr=True), transient=transient)
        self._progress.start()

    def add(self, description: str, total: float) -> Any:
        """Draw another bar, and return what names it."""
        return self._progress.add_task(description, total=total)

    def update(self, bar: Any, done: float) -> None:
        """Show how much of a bar's total is done."""
        self._progress.update(bar, completed=done)

    def remove(self, bar: Any) -> None:
        """Remove a bar."""
        self._progress.remove_task(bar)

    def close(self) -> None:
        """Stop drawing."""
        self._progress.stop()


@dataclass
class _Line:
    """A work about which lines are printed."""

    description: str
    total: float
    begin: float = field(default_factory=time.perf_counter)
    last: float = field(default_factory=time.perf_counter)


class _Lines:
    """Lines on stderr for logs and pipes: how much is done, and how long the rest may take."""

    def add(self, description: str, total: float) -> _Line:
        """Return a work, about which nothing is printed yet."""
        return _Line(description, total)

    def update(self, line: _Line, done: float) -> None:
        """Print a line if the last one is old and the work is not done."""
        now = time.perf_counter()
        if now - line.last > SECONDS_BETWEEN_LINES and done < line.total and sys.stderr is not None:
            line.last = now
            text = describe_progress(line.description, done / line.total, now - line.begin)
            print(text, file=sys.stderr, flush=True)

    def remove(self, line: _Line) -> None:
        """Do nothing: what is printed stays."""

    def close(self) -> None:
        """Do nothing: what is printed stays."""


def _make_bars(transient: bool = False) -> _Bars | _Lines:
    """Return bars for this notebook or terminal, or lines; transient bars disappear at the end."""
    if "ipykernel" in sys.modules:
        return _Bars(transient) if importlib.util.find_spec("ipywidgets") else _Lines()
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return _Bars(transient) if is_terminal else _Lines()


def describe_progress(description: str, share: float, elapsed: float) -> str:
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


class LoopBar:
    """The bar of one loop in a `loop_progress` block; it appears once the loop takes long."""

    def __init__(self, loops: _Loops, total: float) -> None:
        self._loops, self._total = loops, total
        self._begin, self._done = time.perf_counter(), 0.0
        self._bar: Any = None

    def advance(self, amount: float) -> None:
        """Report that this much more of the work is done."""
        self._done += amount
        is_long = time.perf_counter() - self._begin > SECONDS_BEFORE_LOOP
        if self._bar is None and is_long and self._done < self._total:
            self._bar = self._loops.open().add(self._loops.description, self._total)
        if self._bar is not None:
            self._loops.open().update(self._bar, self._done)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._loops.open().remove(self._bar)


@dataclass
class _Loops:
    """A `loop_progress` block; its bars are made when the first loop takes long."""

    description: str
    bars: _Bars | _Lines | None = None

    def open(self) -> _Bars | _Lines:
        """Return the bars of the block's loops."""
        if self.bars is None:
            self.bars = _make_bars(transient=True)
        return self.bars


shown_loops: ContextVar[_Loops | None] = ContextVar("hetero_loops", default=None)
"""The `loop_progress` block around the call, whose loops get bars."""

_NO_PROGRESS = contextlib.nullcontext()
"""The block of loops that show nothing; one serves all, because it has no state."""


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
        Whether to show anything: a bar in terminals and notebooks, else a line on stderr every
        10 seconds.
    """
    if not enabled:
        yield IGNORE
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
    return _show_loops(description) if enabled and shown_loops.get() is None else _NO_PROGRESS


@contextlib.contextmanager
def _show_loops(description: str) -> Iterator[None]:
    """Show a bar for each long loop in the block."""
    loops = _Loops(description)
    token = shown_loops.set(loops)
    try:
        yield
    finally:
        shown_loops.reset(token)
        if loops.bars is not None:
            loops.bars.close()


def reports_loops() -> bool:
    """Return whether a `loop_progress` block around shows the progress of loops."""
    return shown_loops.get() is not None


@contextlib.contextmanager
def report_loop(total: float) -> Iterator[Advance]:
    """Yield the function by which a loop reports its work to the `loop_progress` around it."""
    loops = shown_loops.get()
    if loops is None:
        yield IGNORE
        return
    with contextlib.closing(LoopBar(loops, total)) as bar:
        yield bar.advance
