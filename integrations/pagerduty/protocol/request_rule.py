"""What a request to PagerDuty may contain, and how to validate its body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

REFERENCE: Final = ("id!", "type!", "summary")
"""What a reference to another thing is made of."""


@dataclass(slots=True)
class Shape:
    """The shape of a body's field: its parts, and which of them are required."""

    parts: dict[str, Shape] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    many: bool = False
    free: bool = False

    def problems(self, value: Any, where: str = "") -> list[str]:
        """List what is wrong with a value, in words."""
        if self.free or value is None or not (self.parts or self.many):
            return []
        if self.many:
            return self._each(value, where)
        if not isinstance(value, dict):
            return [f"{where or 'body'} must be an object"]
        missing = [f"{_path(where, name)} is required" for name in sorted(self.required) if value.get(name) is None]
        unknown = [f"{_path(where, name)} is unknown" for name in value if name not in self.parts]
        inner = (
            self.parts[name].problems(part, _path(where, name)) for name, part in value.items() if name in self.parts
        )
        return [*missing, *unknown, *(problem for found in inner for problem in found)]

    def _each(self, value: Any, where: str) -> list[str]:
        if not isinstance(value, list):
            return [f"{where} must be an array"]
        one = Shape(self.parts, self.required)
        return [problem for n, part in enumerate(value) for problem in one.problems(part, f"{where}[{n}]")]


@dataclass(frozen=True, slots=True)
class RequestRule:
    """One request: its method and path, its allowed contents, its success status and its specific error codes.

    ``sender`` means that it requires a user's email address in ``From``.
    """

    method: str
    path: str
    query: frozenset[str]
    body: Shape | None
    status: int
    sender: bool
    errors: frozenset[int]

    @property
    def name(self) -> str:
        """Return method and path, as in the API reference."""
        return f"{self.method} {self.path}"

    @property
    def writes(self) -> bool:
        """Whether this request changes the account."""
        return self.method != "GET"

    def fits(self, path: str) -> dict[str, str] | None:
        """Return the values of the path's placeholders; None when the path does not match."""
        ours, theirs = self.path.split("/"), path.rstrip("/").split("/")
        if len(ours) != len(theirs):
            return None
        pairs = list(zip(ours, theirs, strict=True))
        if any(not their or (our != their and our[:1] != "{") for our, their in pairs[1:]):
            return None
        return {our[1:-1]: their for our, their in pairs if our[:1] == "{"}

    def problems(self, query: Iterable[str], body: Any) -> list[str]:
        """List what a request contains that is not allowed, and what is missing."""
        asked = [f"query parameter {name} is unknown" for name in query if name not in self.query]
        if self.body is None:
            return [*asked, *(["no body is allowed"] if body else [])]
        return [*asked, *self.body.problems({} if body is None else body)]


def read(path: str, query: str = "", *, errors: str = "") -> RequestRule:
    """Define a request that only reads."""
    return RequestRule("GET", path, frozenset(query.split()), None, 200, sender=False, errors=_codes(errors))


def write(
    request: str, fields: str = "", *, status: int = 200, sender: bool = False, errors: str = "", query: str = ""
) -> RequestRule:
    """Define a request that writes, by the dotted names of its body's fields.

    ``!`` marks a field that is required whenever its parent is present, ``[]`` a list, ``@`` a reference, ``*`` a field
    with any contents.
    """
    method, path = request.split()
    body = shape(fields) if fields else None
    return RequestRule(method, path, frozenset(query.split()), body, status, sender=sender, errors=_codes(errors))


def shape(fields: str) -> Shape:
    """Parse the field names of a body into its shape."""
    root = Shape()
    for word in fields.split():
        _add(root, word)
    return root


def _add(root: Shape, word: str) -> None:
    at = root
    for name in (names := word.split("."))[:-1]:
        at = at.parts[name.removesuffix("[]")]
    name = names[-1].rstrip("!@*[]")
    marks = names[-1][len(name) :]
    if "!" in marks:
        at.required.add(name)
    new = at.parts.setdefault(name, Shape(many="[]" in marks, free="*" in marks))
    for part in REFERENCE if "@" in marks else ():
        _add(new, part)


def _path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _codes(text: str) -> frozenset[int]:
    return frozenset(int(code) for code in text.split())
