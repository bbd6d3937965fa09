"""What the wheel needs: the versions that were tested, from the compiled requirements."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PINNED = re.compile(r"^([A-Za-z0-9][\w.\[\],-]*==[^ \\]+(?: ; [^\\]+)?)", re.MULTILINE)


class PinnedRequirements(MetadataHookInterface):
    """Takes the dependencies from `requirements/base.txt`."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies."""
        text = Path(self.root, "requirements", "base.txt").read_text(encoding="utf-8")
        metadata["dependencies"] = [found.strip() for found in PINNED.findall(text)]
