"""Read incident types from YAML, with errors that name file, line and field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from incidents.policy import COLOURS, OneOf, Policy

SLUG = re.compile(r"[a-z][a-z0-9-]{0,38}[a-z0-9]")
LINE_CHARS, ROLE_CHARS = 200, 80
HANDLE = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a types file."""

    file: str
    line: int
    field: str
    says: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.says}"


class BadTypesFile(Exception):
    """The types file cannot be used; ``problems`` lists every reason, each with its line."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class TypesFile:
    """The types of one file in their order, and the slug of the default one."""

    policies: tuple[Policy, ...]
    default: str


def read(path: Path) -> TypesFile:
    """Read and check a types file; raise ``BadTypesFile`` naming each file, line and field at fault."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadTypesFile([Problem(str(path), 0, "file", error.strerror or "cannot be read")]) from error
    except UnicodeDecodeError as error:
        raise BadTypesFile([Problem(str(path), 0, "file", "is not UTF-8 text")]) from error
    return parse(text, file=str(path))


def parse(text: str, *, file: str) -> TypesFile:
    """Check the text of a types file; ``file`` is the name used in errors."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadTypesFile([Problem(file, line, "yaml", error.problem or "is not valid YAML")]) from error
    except yaml.YAMLError as error:
        raise BadTypesFile([Problem(file, 1, "yaml", "is not valid YAML")]) from error
    reading = _Reading(file)
    result = reading.file(root)
    if reading.problems or result is None:
        raise BadTypesFile(reading.problems or [Problem(file, 1, "types", "is missing")])
    return result


@dataclass(slots=True)
class _Reading:
    name: str
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, node: yaml.Node | None, where: str, says: str) -> None:
        self.problems.append(Problem(self.name, node.start_mark.line + 1 if node else 1, where, says))

    def file(self, root: yaml.Node | None) -> TypesFile | None:
        entries = self.mapping(root, "file", {"types", "default"})
        types = entries.get("types")
        if not isinstance(types, yaml.SequenceNode) or not types.value:
            self.wrong(types or root, "types", "must be a list with at least one type")
            return None
        policies = [policy for node in types.value if (policy := self.policy(node))]
        self._each_slug_once(types, policies)
        default = self.text(entries["default"], "default") if "default" in entries else policies and policies[0].slug
        if policies and default not in {policy.slug for policy in policies}:
            self.wrong(entries.get("default"), "default", f"names no type of this file: {default!r}")
        return TypesFile(tuple(policies), str(default))

    def _each_slug_once(self, types: yaml.SequenceNode, policies: list[Policy]) -> None:
        seen: set[str] = set()
        for policy, node in zip(policies, types.value, strict=False):
            if policy.slug in seen:
                self.wrong(node, f"{policy.slug}.slug", "is used by an earlier type")
            seen.add(policy.slug)

    def policy(self, node: yaml.Node) -> Policy | None:
        entries = self.mapping(node, "type", set(READERS))
        slug_node = entries.get("slug")
        where = str(slug_node.value) if isinstance(slug_node, yaml.ScalarNode) else "type"
        before = len(self.problems)
        for needed in ("slug", "name", "says"):
            if needed not in entries and isinstance(node, yaml.MappingNode):
                self.wrong(node, f"{where}.{needed}", "is missing")
        values = {key: READERS[key](self, value, f"{where}.{key}") for key, value in entries.items()}
        return Policy(**values) if len(self.problems) == before else None

    def mapping(self, node: yaml.Node | None, where: str, allowed: set[str]) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, where, "must be a mapping")
            return {}
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if key.value not in allowed:
                self.wrong(key, f"{where}.{key.value}", f"is not known; known: {', '.join(sorted(allowed))}")
            elif key.value in found:
                self.wrong(key, f"{where}.{key.value}", "is given twice")
            else:
                found[key.value] = value
        return found

    def text(self, node: yaml.Node, where: str, *, chars: int = LINE_CHARS) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.wrong(node, where, "must be a text")
            return ""
        said = str(node.value).strip()
        if len(said) > chars:
            self.wrong(node, where, f"has {len(said)} characters; at most {chars}")
        return said

    def slug(self, node: yaml.Node, where: str) -> str:
        value = self.text(node, where)
        if value and not SLUG.fullmatch(value):
            self.wrong(node, where, "must be 2 to 40 of a-z, 0-9 and -, starting with a letter")
        return value

    def boolean(self, node: yaml.Node, where: str) -> bool:
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:bool":
            self.wrong(node, where, "must be true or false")
            return False
        return node.value.lower() in {"true", "yes", "on"}

    def minutes(self, node: yaml.Node, where: str) -> int | None:
        if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
            return None
        if not isinstance(node, yaml.ScalarNode) or not re.fullmatch(r"[0-9]{1,5}", node.value) or int(node.value) < 1:
            self.wrong(node, where, "must be a number of minutes from 1 to 99999, or left out")
            return None
        return int(node.value)

    def colour(self, node: yaml.Node, where: str) -> str:
        value = self.text(node, where)
        if value and value not in COLOURS:
            self.wrong(node, where, f"must be one of {', '.join(COLOURS)}")
        return value

    def texts(self, node: yaml.Node, where: str, *, chars: int = LINE_CHARS) -> tuple[str, ...]:
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, where, "must be a list")
            return ()
        return tuple(self.text(item, f"{where}[{at}]", chars=chars) for at, item in enumerate(node.value))

    def roles(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        return self.texts(node, where, chars=ROLE_CHARS)

    def handles(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, where, "must be a list")
            return ()
        return tuple(self.handle(item, f"{where}[{at}]") for at, item in enumerate(node.value))

    def handle(self, node: yaml.Node, where: str) -> str:
        value = self.text(node, where).removeprefix("@")
        if value and not HANDLE.fullmatch(value):
            self.wrong(node, where, f"is not a group handle: {value!r}")
        return value

    def one_of(self, node: yaml.Node, where: str) -> tuple[OneOf, ...]:
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, where, "must be a list of {role, group}")
            return ()
        return tuple(self._one(item, f"{where}[{at}]") for at, item in enumerate(node.value))

    def _one(self, node: yaml.Node, where: str) -> OneOf:
        entries = self.mapping(node, where, {"role", "group"})
        for needed in ("role", "group"):
            if needed not in entries and isinstance(node, yaml.MappingNode):
                self.wrong(node, f"{where}.{needed}", "is missing")
        role = self.text(entries["role"], f"{where}.role", chars=ROLE_CHARS) if "role" in entries else ""
        group = self.handle(entries["group"], f"{where}.group") if "group" in entries else ""
        return OneOf(role=role, group=group)


READERS: Mapping[str, Callable[[_Reading, yaml.Node, str], Any]] = {
    "slug": _Reading.slug,
    "name": _Reading.text,
    "says": _Reading.text,
    "internal": _Reading.boolean,
    "customer_facing": _Reading.boolean,
    "private": _Reading.boolean,
    "announce": _Reading.boolean,
    "invite": _Reading.handles,
    "one_of": _Reading.one_of,
    "update_every_min": _Reading.minutes,
    "roles": _Reading.roles,
    "checklist": _Reading.texts,
    "colour": _Reading.colour,
}
