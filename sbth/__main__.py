"""`python -m sbth study [WHAT ...]`: the thesis's experiments on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sbth.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m sbth", description=__doc__)
    parser.add_argument("verb", choices=["study"])
    parser.add_argument(
        "what", nargs="*", metavar="WHAT", help=f"of {', '.join(STUDIES)}; all if left out"
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1")
    parser.add_argument("--out", type=Path, default=Path("out/study"), help="folder for results")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for the tests")
    options = parser.parse_args(argv)
    if unknown := set(options.what) - set(STUDIES):
        parser.error(f"WHAT must be of {', '.join(STUDIES)}, got {', '.join(sorted(unknown))}")

    import hetero
    from hetero.study import Study, run

    study = Study(options.out, hetero.resolve(options.device), options.quick)
    for path in run(STUDIES, options.what or list(STUDIES), study):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
