#!/usr/bin/env bash
# Installs heterokit with each CUDA extra on each Python into a fresh environment, and checks the
# install (tools/check_install.py): the pinned numba-cuda, Numba and NumPy must exist together for
# every Python that pyproject.toml names, and the wheel must hold every package. Needs no GPU.
#
#   tools/check_pythons.sh [PYTHON ...]     default: the python3.11 to python3.13 that are on PATH
#
# Prints a line per combination; exits with 1 at the end if one failed.
set -euo pipefail

extras=(cuda12 cuda13)
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

pythons=("$@")
if (($# == 0)); then
    for python in python3.11 python3.12 python3.13; do
        # Being on PATH is not enough: pyenv leaves names there that start nothing.
        if "$python" -c "" 2>/dev/null; then pythons+=("$python"); fi
    done
fi
if ((${#pythons[@]} == 0)); then
    echo "no python3.11, python3.12 or python3.13 on PATH" >&2
    exit 1
fi
for i in "${!pythons[@]}"; do  # a relative path must survive the cd below
    if [[ ${pythons[i]} == */* ]]; then pythons[i]=$(realpath -s "${pythons[i]}"); fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"  # outside the repository, whose packages must not be found by accident

install() {  # argument: EXTRA; pip's messages are shown only if it fails
    venv/bin/python -m pip install "${repo}[$1]" >pip.log 2>&1 || { cat pip.log >&2 && false; }
}

check() {  # arguments: PYTHON EXTRA; chained with && because set -e has no effect in a condition
    "$1" -m venv venv && install "$2" && venv/bin/python -IB "$repo/tools/check_install.py" "$2"
}

failed=0
for python in "${pythons[@]}"; do
    for extra in "${extras[@]}"; do
        if ! check "$python" "$extra"; then
            echo "$python $extra: FAILED"
            failed=1
        fi
        rm -rf venv
    done
done
exit "$failed"
