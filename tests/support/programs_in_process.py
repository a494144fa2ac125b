"""Commands of documents, run by the main functions of the programs, which spares their imports.

A shell runs the commands, so that pipes and files behave as they do for a reader. There each
program is a function that asks this process, which lets the first command of a page be a process.
"""

import contextlib
import importlib
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

PROGRAM = """
{name}() {{
    printf '%q ' {name} "$@" >&{questions}
    echo >&{questions}
    read -r code <&{answers}
    [[ $code == process ]] && {{ command {name} "$@"; return; }}
    cat {printed}
    return "$code"
}}
"""


def run_commands(code: str, begun: dict[str, bool]) -> str:
    """Return what `code` prints; `begun` holds which programs have run already."""
    asked, questions = os.pipe()
    answers, answered = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        printed, output = Path(folder, "printed"), Path(folder, "output")
        programs = [
            PROGRAM.format(name=name, questions=questions, answers=answers, printed=printed)
            for name in begun
        ]
        with output.open("w") as file:
            shell = subprocess.Popen(
                ["bash", "-e", "-o", "pipefail", "-c", "".join(programs) + code],
                stdout=file,
                pass_fds=(questions, answers),
            )
        os.close(questions)
        os.close(answers)
        with os.fdopen(asked) as lines, os.fdopen(answered, "w", buffering=1) as codes:
            for line in lines:
                name, *arguments = shlex.split(line)
                answer = "process"
                if any(begun.values()):
                    main = importlib.import_module(f"{name}.__main__").main
                    with printed.open("w") as file, contextlib.redirect_stdout(file):
                        answer = main(arguments)
                begun[name] = True
                print(answer, file=codes)
        assert shell.wait() == 0, code
        return output.read_text()
