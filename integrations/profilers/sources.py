"""The operator's list of sources for profiles. Anything not on it is never requested.

It is the YAML file named by ``PROFILE_SOURCES_FILE``; ``docs/captures.md`` explains every field. It never contains
secrets, only the names of environment variables that hold them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from incidents.policies import yaml_file
from incidents.policies.policy import COUNTS, MEASURES, MOMENTS
from incidents.policies.policy_file import SOURCE
from incidents.policies.yaml_file import BadFile

TYPES = ("pprof", "pyroscope", "pyroscope-render", "parca", "elastic")
LOOKING_BACK = frozenset(TYPES) - {"pprof"}
FIELDS = (
    "name", "type", "url", "internal", "kinds", "query", "services", "on", "seconds", "headers", "bearer", "basic",
    "link", "most_mib",
)  # fmt: skip
VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
HEADER = re.compile(r"[A-Za-z0-9-]{1,80}")
MOST_MIB = 64


@dataclass(frozen=True, slots=True)
class Listed:
    """One source of the list.

    ``kinds`` maps each kind of profile to the vendor's name for it, empty for the usual name. ``headers`` maps a header
    to its value, with ``$NAME`` for an environment variable. ``internal`` sources may have addresses inside this
    network.
    """

    name: str
    type: str
    url: str
    kinds: Mapping[str, str]
    query: str = ""
    services: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    seconds: int = 15
    headers: Mapping[str, str] = field(default_factory=dict)
    link: str = ""
    internal: bool = False
    most_mib: int = MOST_MIB

    @property
    def looks_back(self) -> bool:
        """Whether it answers immediately, for the past."""
        return self.type in LOOKING_BACK


def read(path: Path, *, environ: Mapping[str, str]) -> tuple[Listed, ...]:
    """Read and check the list. Raises ``BadFile`` naming each line and field at fault.

    ``${NAME}`` in a URL is replaced by a variable of ``environ``, so that one list can serve several places.
    """
    return parse(yaml_file.text_of(path), file=str(path), environ=environ)


def parse(text: str, *, file: str, environ: Mapping[str, str]) -> tuple[Listed, ...]:
    """Check the text of a list; ``file`` is the name used in errors. Raises ``BadFile``."""
    root = yaml_file.compose(text, file=file)
    reading = _Reading(file)
    entries = reading.mapping(root, "file", {"sources"})
    found: dict[str, Listed] = {}
    for node, where in reading.items(entries.get("sources"), "sources") if "sources" in entries else ():
        listed = reading.source(node, where, environ)
        if listed is not None and listed.name in found:
            reading.wrong(node, f"{listed.name}.name", "is used by an earlier source")
        elif listed is not None:
            found[listed.name] = listed
    if reading.problems:
        raise BadFile(reading.problems)
    return tuple(found.values())


class _Reading(yaml_file.Reading):
    def source(self, node: yaml.Node, where: str, environ: Mapping[str, str]) -> Listed | None:
        entries = self.mapping(node, where, FIELDS)
        before = len(self.problems)
        self.needed(node, entries, where, "name", "type", "url", "kinds")
        if len(self.problems) > before or not entries:
            return None
        name = self.shaped(entries["name"], f"{where}.name", SOURCE, says="must be of a-z, 0-9, dots, - and _")
        at = name or where
        kinds = self._kinds(entries["kinds"], f"{at}.kinds")
        listed = Listed(
            name=name,
            type=self.word(entries["type"], f"{at}.type", TYPES),
            url=self._url(entries["url"], f"{at}.url", environ),
            kinds=kinds,
            query=self.text(entries["query"], f"{at}.query", chars=1000) if "query" in entries else "",
            services=self.texts(entries["services"], f"{at}.services") if "services" in entries else (),
            on=self._moments(entries["on"], f"{at}.on") if "on" in entries else (),
            seconds=self._seconds(entries.get("seconds"), f"{at}.seconds", kinds),
            headers=self._headers(entries, at),
            link=self._link(entries["link"], f"{at}.link", environ) if "link" in entries else "",
            internal=self.boolean(entries["internal"], f"{at}.internal") if "internal" in entries else False,
            most_mib=self._most(entries.get("most_mib"), f"{at}.most_mib"),
        )
        self._together(node, at, listed)
        return listed if len(self.problems) == before else None

    def _together(self, node: yaml.Node, at: str, listed: Listed) -> None:
        if listed.on and not listed.services:
            self.wrong(node, f"{at}.on", "is set, but services is not")
        if listed.type in {"pyroscope", "pyroscope-render", "parca"} and not listed.query:
            self.wrong(
                node, f"{at}.query", f'is missing: say which series of {listed.type}, as in {{service_name="x"}}'
            )
        if listed.looks_back and not listed.seconds:
            self.wrong(node, f"{at}.seconds", "must be at least 1: it is queried for a time window")
        if listed.type == "elastic" and listed.query and not _is_json(listed.query):
            self.wrong(node, f"{at}.query", "must be a query in JSON, as Elasticsearch takes it")

    def _kinds(self, node: yaml.Node, where: str) -> dict[str, str]:
        if isinstance(node, yaml.MappingNode):
            entries = self.mapping(node, where, MEASURES)
            kinds = {kind: self.text(value, f"{where}.{kind}") for kind, value in entries.items()}
        else:
            kinds = {self.word(item, at, MEASURES): "" for item, at in self.items(node, where)}
        if not kinds:
            self.wrong(node, where, f"must name at least one of {', '.join(MEASURES)}")
        return kinds

    def _moments(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        return tuple(self.word(item, at, MOMENTS) for item, at in self.items(node, where))

    def _seconds(self, node: yaml.Node | None, where: str, kinds: Mapping[str, str]) -> int:
        first = MEASURES.get(next(iter(kinds), ""), MEASURES["cpu"])
        low, high = (0 if first.all else 1), COUNTS["seconds"][1]
        return self.whole(node, where, low=low, high=high) if node is not None else first.seconds

    def _most(self, node: yaml.Node | None, where: str) -> int:
        return self.whole(node, where, low=1, high=1024) if node is not None else MOST_MIB

    def _url(self, node: yaml.Node, where: str, environ: Mapping[str, str]) -> str:
        value = self._filled(node, where, environ)
        parts = urlsplit(value)
        if value and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment):
            self.wrong(node, where, "must be an address that starts with https:// or http://, without ? and #")
        elif parts.username or parts.password:
            self.wrong(node, where, "must hold no password: name a variable with basic: $NAME")
        return value.rstrip("/")

    def _link(self, node: yaml.Node, where: str, environ: Mapping[str, str]) -> str:
        value = self._filled(node, where, environ)
        if value and not value.startswith(("https://", "http://")):
            self.wrong(node, where, "must be an address that starts with https:// or http://")
        return value

    def _filled(self, node: yaml.Node, where: str, environ: Mapping[str, str]) -> str:
        value = self.text(node, where, chars=1000)
        for name in re.findall(r"\$\{(\w+)\}", value):
            if not environ.get(name):
                self.wrong(node, where, f"names {name}, which is not set in the environment")
            value = value.replace(f"${{{name}}}", environ.get(name, ""))
        return value

    def _headers(self, entries: Mapping[str, yaml.Node], at: str) -> dict[str, str]:
        node = entries.get("headers")
        found: dict[str, str] = {}
        if node is not None:
            names = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
            for header, value in self.mapping(node, f"{at}.headers", names).items():
                found[header] = self._variable(value, f"{at}.headers.{header}")
                if not HEADER.fullmatch(header):
                    self.wrong(value, f"{at}.headers.{header}", "is not a header name")
        for way in ("bearer", "basic"):
            if way in entries:
                found["Authorization"] = f"{way} {self._variable(entries[way], f'{at}.{way}')}"
        return found

    def _variable(self, node: yaml.Node, where: str) -> str:
        return self.shaped(node, where, VARIABLE, says="must name a variable of the environment, as in $NAME")


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
