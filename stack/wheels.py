"""Where an installed package lies, found without importing it: imports cost time and have opinions."""

from importlib.util import find_spec
from pathlib import Path


def folder(package: str) -> Path:
    """Give the package's folder."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None, f"{package} is not installed: make venv"
    return Path(spec.origin).parent
