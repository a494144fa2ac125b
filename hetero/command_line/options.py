"""Options that commands of all packages share, and checks of their values before a long run."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from hetero.command_line.figure_files import SUFFIXES as FIGURE_SUFFIXES
from hetero.command_line.parsers import add_version
from hetero.data_files import check_output
from hetero.data_files.atomic_files import require_writable
from hetero.data_files.text_layout import DELIMITERS
from hetero.data_files.writing import SUFFIXES as COLUMN_SUFFIXES
from hetero.validation import check_output_path


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add --device, --json, --quiet and --version to a command."""
    parser.add_argument(
        "--device",
        metavar="DEVICE",
        help="auto, cpu, cuda or cuda:1 (default: HETERO_DEVICE, or a GPU where it is faster)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the result as one JSON object, and nothing else"
    )
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    add_version(parser, parser.prog.split()[-2])


def add_plot_option(parser: argparse.ArgumentParser, noun: str) -> None:
    """Add --plot; `noun` says what is drawn."""
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help=f"draw {noun} to a {_join_with_or(FIGURE_SUFFIXES)} file",
    )


def add_out_option(parser: argparse.ArgumentParser, noun: str) -> None:
    """Add --out, a file of columns of numbers; `noun` says what is written."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=f"write {noun} to a {_join_with_or(COLUMN_SUFFIXES)} file",
    )


def add_layout_options(parser: argparse.ArgumentParser) -> None:
    """Add --delimiter, --decimal and --missing, which say how a text file is to be read."""
    parser.add_argument(
        "--delimiter",
        type=_parse_delimiter,
        metavar="MARK",
        help=f"{_join_with_or(tuple(DELIMITERS))}, or one character, between the columns of a text "
        "file (default: found out)",
    )
    parser.add_argument(
        "--decimal", choices=(".", ","), help="decimal mark in a text file (default: found out)"
    )
    parser.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="text that stands for a missing value, besides NA, N/A, #N/A, #NV, n.a., NaN, - and "
        "the like; may be given several times",
    )


def _parse_delimiter(text: str) -> str:
    """Return a delimiter by its name, or as it is."""
    mark = DELIMITERS.get(text, "\t" if text == "\\t" else text)
    if len(mark) != 1 or mark.isalnum() or mark in '"#\n\r.+-':
        raise argparse.ArgumentTypeError(
            f"must be {_join_with_or(tuple(DELIMITERS))}, or another character, got {text!r}"
        )
    return mark


def _join_with_or(suffixes: tuple[str, ...]) -> str:
    """Return suffixes as a text such as ".csv, .parquet or .npy"."""
    return f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"


def check_device(device: str | None) -> None:
    """Raise ValueError or DeviceUnavailableError if a device cannot be used."""
    from hetero.devices import parse

    if (parsed := parse(device)) is not None:
        parsed.require()


def check_outputs(
    *, out: Path | None = None, plot: Path | None = None, others: tuple[Path | None, ...] = ()
) -> None:
    """Raise an error, before a long computation, if a file cannot be written; change nothing.

    Parameters
    ----------
    out, plot : Path, optional
        Files of --out, if it is one of columns, and of --plot.
    others : tuple of Path or None
        Files of other formats.

    Raises
    ------
    ValueError : a suffix stands for no format, a folder does not exist, or two files are one
    OSError : a file cannot be created, or an existing one is read-only
    ImportError : a package that writes such a file is not installed
    """
    check_output("--out", out)
    check_output_path("--plot", plot, FIGURE_SUFFIXES)
    if plot is not None:
        importlib.import_module("hetero.display.figures")  # fails now if Matplotlib is broken
    written = set()
    for path in (out, plot, *others):
        if path is None:
            continue
        require_writable(path)
        if not path.exists() or path.is_file():  # several may write to one device or pipe
            if path.resolve() in written:
                raise ValueError(f"two options write {path}: give each a file of its own")
            written.add(path.resolve())
