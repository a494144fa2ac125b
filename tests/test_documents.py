"""The code in the README runs, top to bottom."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_readme_code_runs():
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len(blocks) >= 2
    names: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert abs(names["law"].pdf(0.0) - 0.2541126866022) < 1e-12
    assert abs(names["result"].alpha - 1.5) < 0.05


def test_readme_names_existing_files():
    for target in re.findall(r"\]\(([^)h#][^)]*)\)", README):
        assert (Path(__file__).parents[1] / target).exists(), target
