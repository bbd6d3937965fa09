"""Read YAML that people write, with errors that name file, line and field. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

LINE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file."""

    file: str
    line: int
    field: str
    says: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.says}"


class BadFile(Exception):
    """The file cannot be used; ``problems`` lists every reason, each with its line."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def text_of(path: Path) -> str:
    """Read a file as text; raise ``BadFile`` if that fails."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadFile([Problem(str(path), 0, "file", error.strerror or "cannot be read")]) from error
    except UnicodeDecodeError as error:
        raise BadFile([Problem(str(path), 0, "file", "is not UTF-8 text")]) from error


def compose(text: str, *, file: str) -> yaml.Node | None:
    """Parse text into nodes that know their lines; raise ``BadFile`` if it is not YAML."""
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadFile([Problem(file, line, "yaml", error.problem or "is not valid YAML")]) from error
    except yaml.YAMLError as error:
        raise BadFile([Problem(file, 1, "yaml", "is not valid YAML")]) from error
    except RecursionError as error:
        raise BadFile([Problem(file, 1, "yaml", "is nested too deeply")]) from error
    return root


@dataclass(slots=True)
class Reading:
    """One pass over a file: each method reads one kind of node and records what is wrong with it."""

    name: str
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, node: yaml.Node | None, where: str, says: str) -> None:
        """Record a problem."""
        self.problems.append(Problem(self.name, node.start_mark.line + 1 if node else 1, where, says))

    def mapping(self, node: yaml.Node | None, where: str, allowed: Collection[str]) -> dict[str, yaml.Node]:
        """Read a mapping with no other keys than these."""
        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, where, "must be a mapping")
            return {}
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.wrong(key, where, "has a name that is not text")
            elif key.value not in allowed:
                self.wrong(key, f"{where}.{key.value}", f"is not known; known: {', '.join(sorted(allowed))}")
            elif key.value in found:
                self.wrong(key, f"{where}.{key.value}", "is given twice")
            else:
                found[key.value] = value
        return found

    def needed(self, node: yaml.Node | None, entries: Collection[str], where: str, *names: str) -> None:
        """Record which of these keys are missing."""
        for name in names:
            if name not in entries and isinstance(node, yaml.MappingNode):
                self.wrong(node, f"{where}.{name}", "is missing")

    def items(self, node: yaml.Node | None, where: str, *, of: str = "") -> Sequence[tuple[yaml.Node, str]]:
        """Read a list: its nodes, each with its place in words."""
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, where, f"must be a list{f' of {of}' if of else ''}")
            return ()
        return [(item, f"{where}[{at}]") for at, item in enumerate(node.value)]

    def text(self, node: yaml.Node, where: str, *, chars: int = LINE_CHARS) -> str:
        """Read a text that is not empty."""
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.wrong(node, where, "must be text")
            return ""
        said = str(node.value).strip()
        if len(said) > chars:
            self.wrong(node, where, f"has {len(said)} characters; at most {chars}")
        return said

    def texts(self, node: yaml.Node, where: str, *, chars: int = LINE_CHARS) -> tuple[str, ...]:
        """Read a list of texts."""
        return tuple(self.text(item, at, chars=chars) for item, at in self.items(node, where))

    def word(self, node: yaml.Node, where: str, known: Collection[str]) -> str:
        """Read one of the known words."""
        value = self.text(node, where)
        if value and value not in known:
            self.wrong(node, where, f"must be one of {', '.join(known)}")
        return value

    def shaped(self, node: yaml.Node, where: str, shape: re.Pattern[str], *, says: str) -> str:
        """Read a text of a certain shape; ``says`` is the error for any other text."""
        value = self.text(node, where)
        if value and not shape.fullmatch(value):
            self.wrong(node, where, f"{says}: {value!r}")
        return value

    def boolean(self, node: yaml.Node, where: str) -> bool:
        """Read true or false."""
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:bool":
            self.wrong(node, where, "must be true or false")
            return False
        return node.value.lower() in {"true", "yes", "on"}

    def whole(self, node: yaml.Node, where: str, *, low: int, high: int) -> int:
        """Read a whole number within bounds."""
        fine = isinstance(node, yaml.ScalarNode) and re.fullmatch(r"[0-9]{1,9}", node.value)
        if not fine or not low <= int(node.value) <= high:
            self.wrong(node, where, f"must be a whole number from {low} to {high}")
            return low
        return int(node.value)
