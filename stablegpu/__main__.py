"""Fit stable distributions to data, evaluate them, and draw samples."""

from __future__ import annotations

import sys

from hetero.command_line import command_parser, run_command
from stablegpu._commands.fits import add_fit
from stablegpu._commands.samples import add_samples
from stablegpu._commands.values import add_values

_EXAMPLES = (
    ("fit returns.csv --column 2 --plot fit.html", "fit a column of a file, and draw it"),
    ("pdf 1.5 0.5 --at -1 0 1", "the density of alpha 1.5, beta 0.5 at three points"),
    ("rvs 1.5 0.5 --size 1000 --seed 1 --out x.csv", "1000 samples to a file"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("stablegpu", __doc__ or "", _EXAMPLES)
    metavar = "fit|pdf|cdf|quantile|rvs"
    subcommands = parser.add_subparsers(required=True, metavar=metavar)
    add_fit(subcommands)
    for name in ("pdf", "cdf", "quantile"):
        add_values(subcommands, name)
    add_samples(subcommands)
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: options.run(options))


if __name__ == "__main__":
    sys.exit(main())
