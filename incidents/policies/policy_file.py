"""Read incident types from YAML, with errors that name file, line and field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from incidents.policies import yaml_file
from incidents.policies.policy import COLOURS, COUNTS, MEASURES, MOMENTS, Capture, OneOf, Policy
from incidents.policies.yaml_file import LINE_CHARS, Problem

__all__ = [
    "HANDLE",
    "LINE_CHARS",
    "ROLE_CHARS",
    "SLUG",
    "SOURCE",
    "TARGET_CHARS",
    "BadTypesFile",
    "Problem",
    "TypesFile",
    "parse",
    "read",
]

SLUG = re.compile(r"[a-z][a-z0-9-]{0,38}[a-z0-9]")
ROLE_CHARS = 80
TARGET_CHARS = 120
HANDLE = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
SOURCE = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


class BadTypesFile(yaml_file.BadFile):
    """The types file cannot be used; ``problems`` lists every reason, each with its line."""


@dataclass(frozen=True, slots=True)
class TypesFile:
    """The types of one file in their order, and the slug of the default one."""

    policies: tuple[Policy, ...]
    default: str


def read(path: Path) -> TypesFile:
    """Read and check a types file; raise ``BadTypesFile`` naming each file, line and field at fault."""
    try:
        return parse(yaml_file.text_of(path), file=str(path))
    except yaml_file.BadFile as bad:
        raise BadTypesFile(bad.problems) from bad


def parse(text: str, *, file: str) -> TypesFile:
    """Check the text of a types file; ``file`` is the name used in errors. Raises ``BadTypesFile``."""
    try:
        root = yaml_file.compose(text, file=file)
    except yaml_file.BadFile as bad:
        raise BadTypesFile(bad.problems) from bad
    reading = _Reading(file)
    result = reading.file(root)
    if reading.problems or result is None:
        raise BadTypesFile(reading.problems or [Problem(file, 1, "types", "is missing")])
    return result


class _Reading(yaml_file.Reading):
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
            self.wrong(entries.get("default"), "default", f"is not a type in this file: {default!r}")
        return TypesFile(tuple(policies), str(default))

    def _each_slug_once(self, types: yaml.SequenceNode, policies: list[Policy]) -> None:
        seen: set[str] = set()
        for policy, node in zip(policies, types.value, strict=False):
            if policy.slug in seen:
                self.wrong(node, f"{policy.slug}.slug", "is used by an earlier type")
            seen.add(policy.slug)

    def policy(self, node: yaml.Node) -> Policy | None:
        before = len(self.problems)
        entries = self.mapping(node, "type", set(READERS))
        slug_node = entries.get("slug")
        where = str(slug_node.value) if isinstance(slug_node, yaml.ScalarNode) else "type"
        self.needed(node, entries, where, "slug", "name", "says")
        values = {key: READERS[key](self, value, f"{where}.{key}") for key, value in entries.items()}
        return Policy(**values) if len(self.problems) == before else None

    def slug(self, node: yaml.Node, where: str) -> str:
        value = self.text(node, where)
        if value and not SLUG.fullmatch(value):
            self.wrong(node, where, "must be 2 to 40 of a-z, 0-9 and -, starting with a letter")
        return value

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

    def roles(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        return self.texts(node, where, chars=ROLE_CHARS)

    def handles(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        return tuple(self.handle(item, at) for item, at in self.items(node, where))

    def handle(self, node: yaml.Node, where: str) -> str:
        value = self.text(node, where).removeprefix("@")
        if value and not HANDLE.fullmatch(value):
            self.wrong(node, where, f"is not a group handle: {value!r}")
        return value

    def one_of(self, node: yaml.Node, where: str) -> tuple[OneOf, ...]:
        return tuple(self._one(item, at) for item, at in self.items(node, where, of="{role, schedule or group}"))

    def _one(self, node: yaml.Node, where: str) -> OneOf:
        entries = self.mapping(node, where, ["role", "schedule", "group", "otherwise"])
        self.needed(node, entries, where, "role")
        if entries and not {"schedule", "group"} & entries.keys():
            self.wrong(node, where, "needs a schedule or a group")
        role = self.text(entries["role"], f"{where}.role", chars=ROLE_CHARS) if "role" in entries else ""
        group = self.handle(entries["group"], f"{where}.group") if "group" in entries else ""
        named = {
            key: self.text(entries[key], f"{where}.{key}", chars=TARGET_CHARS)
            for key in ("schedule", "otherwise")
            if key in entries
        }
        return OneOf(role=role, group=group, **named)

    def pages(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        return self.texts(node, where, chars=TARGET_CHARS)

    def captures(self, node: yaml.Node, where: str) -> tuple[Capture, ...]:
        found: dict[tuple[str, str, str], Capture] = {}
        for item, at in self.items(node, where, of="{source, kind, on}"):
            capture = self._capture(item, at)
            if capture is not None and capture.key in found:
                self.wrong(item, at, f"asks for {capture.kind} of {capture.source} twice")
            elif capture is not None:
                found[capture.key] = capture
        return tuple(found.values())

    def _capture(self, node: yaml.Node, where: str) -> Capture | None:
        entries = self.mapping(node, where, ["source", "kind", "on", *_COUNTS])
        before = len(self.problems)
        self.needed(node, entries, where, "source", "kind", "on")
        values: dict[str, Any] = {
            key: _CAPTURES[key](self, value, f"{where}.{key}") for key, value in entries.items() if key in _CAPTURES
        }
        for key in _COUNTS & entries.keys():
            low, high = COUNTS[key]
            values[key] = self.whole(entries[key], f"{where}.{key}", low=low, high=high)
        if len(self.problems) > before or not entries:
            return None
        capture = Capture(**({"seconds": MEASURES[values["kind"]].seconds} | values))
        if not capture.seconds and not capture.measure.all:
            self.wrong(entries["seconds"], f"{where}.seconds", f"must be at least 1 for {capture.kind}")
        return capture

    def source(self, node: yaml.Node, where: str) -> str:
        return self.shaped(node, where, SOURCE, says="is not the name of a source")

    def kind(self, node: yaml.Node, where: str) -> str:
        return self.word(node, where, MEASURES)

    def moment(self, node: yaml.Node, where: str) -> str:
        return self.word(node, where, MOMENTS)


_COUNTS = COUNTS.keys()
_CAPTURES: Mapping[str, Callable[[_Reading, yaml.Node, str], str]] = {
    "source": _Reading.source,
    "kind": _Reading.kind,
    "on": _Reading.moment,
}
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
    "captures": _Reading.captures,
    "pages": _Reading.pages,
}
