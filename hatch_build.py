"""The description on a package index: README.md with absolute links.

Relative links work in a checkout and on a code host, but not on a package index. There they point
to the repository whose address `pyproject.toml` names.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE_LINK = re.compile(r"(\]\(|src=\"|srcset=\"|href=\")(?![a-z]+:|#)([^)\"\s]+)")


def absolute_links(text: str, repository: str) -> str:
    """Return Markdown whose links to files of the repository are absolute.

    Images must be linked to their bytes (`raw`), all other files to their pages (`blob`).
    """

    def replace(match: re.Match) -> str:
        is_image = match[2].endswith((".png", ".svg"))
        return f"{match[1]}{repository}/{'raw' if is_image else 'blob'}/main/{match[2]}"

    return RELATIVE_LINK.sub(replace, text)


class ReadmeHook(MetadataHookInterface):
    """Sets the dynamic field `readme`."""

    def update(self, metadata: dict) -> None:
        """Set `readme` to the text of README.md with absolute links."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = metadata["urls"]["Repository"]
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute_links(text, repository),
        }
