"""Find an installed package without importing it, because imports take time and have side effects."""

from importlib.util import find_spec
from pathlib import Path

from stack.errors import StackError


def has(package: str) -> bool:
    """Return whether the package is installed."""
    return find_spec(package) is not None


def folder(package: str) -> Path:
    """Return the package's folder."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise StackError(f"The package {package} is not installed: run `make venv`.")
    return Path(spec.origin).parent
