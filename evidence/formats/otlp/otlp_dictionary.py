"""What OTLP profiles refer to: strings, functions, locations, stacks, attributes. Every index is checked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evidence.formats.base.gather import Gather
from evidence.profile.errors import BadProfile

FRAME_TYPE = "profile.frame.type"
# The values of ``profile.frame.type`` in the semantic conventions -> our hint.
FRAME_TYPES = {
    "kernel": "kernel", "native": "native", "jvm": "jit", "v8js": "jit", "dotnet": "jit", "beam": "interpreted",
    "cpython": "interpreted", "php": "interpreted", "ruby": "interpreted", "perl": "interpreted",
}  # fmt: skip
OLD_LAYOUT = "This is an older OTLP profiles layout without a stack table. Update the sender"


class Dictionary:
    """The tables of one file, accessed by index."""

    def __init__(self, message: Any) -> None:
        self.message = message
        self._attributes: dict[tuple[int, ...], dict[str, str]] = {}

    def at(self, table: str, index: int, where: str) -> Any:
        """Return an entry of a table. Raises ``BadProfile``, naming ``where``, for an index out of range."""
        found = getattr(self.message, f"{table}_table")
        if not 0 <= index < len(found):
            if table == "stack" and not found and self.message.location_table:
                raise BadProfile(OLD_LAYOUT, where=where)
            raise BadProfile(f"{table.capitalize()} {index} does not exist: there are {len(found)}", where=where)
        return found[index]

    def text(self, index: int, where: str) -> str:
        """Return a string; index 0 is empty even without a table."""
        return str(self.at("string", index, where)) if index or len(self.message.string_table) else ""

    def attributes(self, indices: Iterable[int], where: str) -> dict[str, str]:
        """Return attributes as texts."""
        key = tuple(indices)
        if key not in self._attributes:
            pairs = [self.at("attribute", index, where) for index in key if index]
            self._attributes[key] = {
                self.text(pair.key_strindex, where): self._said(pair.value, where) for pair in pairs
            }
        return self._attributes[key]

    def described(self, pairs: Iterable[Any], where: str) -> dict[str, str]:
        """Return the attributes of a resource as texts."""
        return {
            (pair.key or self.text(pair.key_strindex, where))[:200]: self._said(pair.value, where) for pair in pairs
        }

    def _said(self, value: Any, where: str) -> str:
        kind = value.WhichOneof("value")
        if kind == "string_value_strindex":
            return self.text(value.string_value_strindex, where)[:200]
        if kind in {"string_value", "bool_value", "int_value", "double_value"}:
            return str(getattr(value, kind))[:200]
        return ""


class Codes:
    """Stacks of the dictionary as codes, and what each of them counts in all."""

    def __init__(self, dictionary: Dictionary, gather: Gather) -> None:
        self.dictionary = dictionary
        self.gather = gather
        self._locations: dict[int, list[int]] = {}
        self._counts: dict[tuple[int, str], list[int]] = {}
        self._where: dict[tuple[int, str], str] = {}

    def add(self, stack: int, process: str, values: Sequence[int], *, where: str) -> None:
        """Count a sample for its stack and process. Raises ``BadProfile`` for malformed content."""
        self.dictionary.at("stack", stack, where)
        if min(values) < 0:
            raise BadProfile(f"A sample has a negative value, {min(values)}", where=where)
        key = stack, process
        known = self._counts.get(key)
        self._counts[key] = [sum(pair) for pair in zip(known, values, strict=True)] if known else list(values)
        self._where.setdefault(key, where)

    @property
    def processes(self) -> set[str]:
        """The processes that samples were counted for."""
        return {process for _, process in self._counts}

    def pour(self, *, several: bool) -> None:
        """Add one sample for each stack; if there are several processes, the process is its root frame."""
        stacks: dict[int, list[int]] = defaultdict(list)
        for (index, process), values in self._counts.items():
            where = self._where[index, process]
            if index not in stacks:
                stacks[index] = self._stack(index, where)
            root = [self.gather.code(process)] if several and process else []
            self.gather.add(root + stacks[index], values, where=where)

    def _stack(self, index: int, where: str) -> list[int]:
        codes: list[int] = []
        for location in reversed(self.dictionary.at("stack", index, where).location_indices):
            if location not in self._locations:
                self._locations[location] = list(self._frames(location, where))
            codes += self._locations[location]
            if len(codes) > self.gather.limits.depth:
                break
        return codes

    def _frames(self, index: int, where: str) -> Iterator[int]:
        """Yield the frames of a location, the caller before what was inlined into it."""
        location = self.dictionary.at("location", index, where)
        kind = self.dictionary.attributes(location.attribute_indices, where).get(FRAME_TYPE, "")
        hint = FRAME_TYPES.get(kind, "")
        lines = location.lines
        if not lines:
            yield self.gather.code(self._unnamed(location, where), hint=hint)
        for at in range(len(lines) - 1, -1, -1):
            function = self.dictionary.at("function", lines[at].function_index, where)
            name = self.dictionary.text(function.name_strindex, where)
            name = name or self.dictionary.text(function.system_name_strindex, where)
            inlined = at < len(lines) - 1
            yield self.gather.code(name or self._unnamed(location, where), hint="inlined" if inlined else hint)

    def _unnamed(self, location: Any, where: str) -> str:
        """Return a name for unnamed code: the file that it was loaded from, else its address."""
        if location.mapping_index:
            mapping = self.dictionary.at("mapping", location.mapping_index, where)
            file = self.dictionary.text(mapping.filename_strindex, where)
            if file:
                return f"[{file.rsplit('/', 1)[-1]}]"
        return f"0x{location.address:x}" if location.address else "[unknown]"
