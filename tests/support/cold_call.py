"""A cold call that is interrupted after so many seconds, and the same call again.

Prints "interrupted" or "finished" for the first call, and whether the second one was right. The
argument is the time from the start of the call to Ctrl-C in seconds, and the name of the call.
"""

import os
import signal
import sys
import threading
import time

FIRST_CALLS = {
    "ndtr": "import stablegpu; value = stablegpu.ndtr([0.0, 40.0])[1]; expected = 1.0",
    "pdf": "import stablegpu; value = stablegpu.stable(2.0, 0.0).pdf(0.0); "
    "expected = 0.28209479177387814",
    "normal": "import rode; value = rode.normal(5, rng=1).shape; expected = (5,)",
    "eigenvalues": "import sbth; value = sbth.eigvals_banded([[1.0, 2.0]])[1]; expected = 2.0",
    "flow": "import lbm; value = lbm.Simulation((4, 4, 4), device='cpu').run(1).steps; "
    "expected = 1",
    "search": "import tmd; value = tmd.search('exp', (1.0, 1.0 + 2.0**-40), bits=4, device='cpu')"
    ".certificate['trivial']; expected = 0",
}


def call(name: str) -> bool:
    """Run a call and return whether its value is the expected one."""
    scope: dict = {}
    exec(FIRST_CALLS[name], scope)
    return scope["value"] == scope["expected"]


def main() -> None:
    """Interrupt the first call, then run the second."""
    seconds, name = float(sys.argv[1]), sys.argv[2]
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's `&` lets children ignore it
    main_thread = threading.main_thread().ident
    running = True

    def interrupt() -> None:
        time.sleep(seconds)
        if running:
            signal.pthread_kill(main_thread, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    start, outcome = time.perf_counter(), "finished"
    try:
        call(name)
    except KeyboardInterrupt:
        outcome = "interrupted"
    except BaseException as error:
        print("raised", type(error).__name__, error)
        os._exit(1)
    running = False
    duration = time.perf_counter() - start
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # one that comes late is no part of this
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print(outcome, "right" if call(name) else "wrong", f"{duration:.3f}")
    except BaseException as error:
        print("ruined", type(error).__name__, error)


if __name__ == "__main__":
    main()
