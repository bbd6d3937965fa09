"""Measurements that are no profiles: benchmarks, load tests, sweeps. Pure, and bounded in size.

Each module has ``NAME``, ``KIND`` (that of the evidence), ``looks_like(head)``, ``read(data)`` to a value with
``as_dict()``, ``from_dict(kept)`` and ``sentence(value)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

MODULES = ("benchstat", "gobench", "loadtest", "sweep")  # in the order in which content is tried
NAMES = {"benchstat": "benchstat", "go benchmark": "gobench", "load test": "loadtest", "sweep": "sweep"}


def sniff(head: bytes) -> ModuleType | None:
    """Return the module that reads content beginning with ``head``, or None."""
    modules = (import_module(f"evidence.measures.{name}") for name in MODULES)
    return next((module for module in modules if module.looks_like(head)), None)


def sure(head: bytes) -> bool:
    """Tell whether content is a measure by marks that no profile has; a sweep is only a table."""
    module = sniff(head)
    return module is not None and module.NAME != "sweep"


def named(name: str) -> ModuleType | None:
    """Return the module of a measure's name, or None."""
    return import_module(f"evidence.measures.{NAMES[name]}") if name in NAMES else None


def reopened(kept: Mapping[str, Any]) -> Any:
    """Return the value that ``as_dict`` stored; None when it is of no measure."""
    module = named(str(kept.get("measure", "")))
    return module.from_dict(kept) if module else None
