"""`python -m stablegpu study [WHAT ...]`: accuracy and rates as the papers measured them, here."""

from __future__ import annotations

import sys

from hetero.command_line import command_parser, run_command
from hetero.measurement.studies import add_arguments, run_chosen
from stablegpu.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    """Run the command line."""
    parser = command_parser("stablegpu", __doc__)
    parser.add_argument("verb", choices=["study"])
    add_arguments(parser, STUDIES)
    parser.add_argument("--processes", type=int, default=1, help="that compute true values")
    options = parser.parse_args(argv)

    from stablegpu.study.report import Study

    return run_command(
        parser.prog, lambda: run_chosen(options, STUDIES, Study, processes=options.processes)
    )


if __name__ == "__main__":
    sys.exit(main())
