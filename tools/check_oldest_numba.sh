#!/usr/bin/env bash
# Installs heterokit with the oldest Numba of pyproject.toml into a fresh environment, and runs the
# tests of the names of Numba that are not public, which say what another version has changed.
#
#   tools/check_oldest_numba.sh [PYTHON]     default: python3.11
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
oldest=$(sed -n 's/^ *"numba>=\([0-9.]*\),.*/\1/p' "$repo/pyproject.toml" | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${1:-python3.11}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet "numba==$oldest.*" "$repo" \
    hypothesis mpmath pytest pytest-timeout pytest-xdist
cd "$repo"
HETERO_CACHE_DIR="$work/cache" PYTHONPATH="$repo" "$work/venv/bin/python" -m pytest -q \
    -p no:cacheprovider tests/hetero/test_numba_internals.py tests/hetero/test_interrupted_first_calls.py
echo "passed with Numba $oldest"
