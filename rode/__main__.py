"""`python -m rode study [WHAT ...]` and `quality`: experiments of Riesinger (2017), run here."""

from __future__ import annotations

import sys

from hetero.command_line import command_parser, run_command
from hetero.measurement.studies import add_arguments, run_chosen
from rode.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    parser = command_parser("rode", __doc__)
    parser.add_argument("verb", choices=["study", "quality"])
    add_arguments(parser, STUDIES)
    options = parser.parse_args(argv)
    if options.verb == "quality":
        if options.what:
            parser.error("quality takes no WHAT")
        options.what = ["quality"]
    # Long enough to hide what a call on a GPU prepares behind the calls before it.
    sample = 2e-3 if options.quick else 2e-2
    return run_command(parser.prog, lambda: run_chosen(options, STUDIES, sample=sample))


if __name__ == "__main__":
    sys.exit(main())
