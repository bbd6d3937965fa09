"""Rows of the type form: a policy line with one field per part, parsed by the line's own rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django import forms
from django.http import QueryDict

from incidents.policies import capture_lines, one_of_lines
from incidents.policies.policy import Capture, OneOf

AT_MOST: Final = 40
Parts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RowKind:
    """What the rows of one field hold: their parts, how parts make a line, and how a line is read."""

    parts: tuple[str, ...]
    line: Callable[..., str]
    read: Callable[[str], Any]
    shown: Callable[[Any], Parts]


@dataclass(frozen=True, slots=True)
class TypeRow:
    """One row as the form shows it: the value of each part, and what is wrong with it."""

    number: int
    value: Parts
    wrong: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class GivenRow:
    """One row as it was sent: its parts, or a whole line if only text was sent."""

    parts: Parts = field(default_factory=dict)
    text: str = ""


class RowsWidget(forms.Widget):
    """Reads ``name.part`` of every row, or ``name`` with one line for each row; templates render it."""

    def __init__(self, kind: RowKind) -> None:
        super().__init__()
        self.kind = kind

    def value_from_datadict(self, data: Mapping[str, Any], files: object, name: str) -> list[GivenRow]:
        """Return the rows that were sent, without empty ones."""
        lists = [data.getlist(f"{name}.{part}") for part in self.kind.parts] if isinstance(data, QueryDict) else []
        if any(lists):
            long = max(map(len, lists))
            even = [[*one, *[""] * (long - len(one))] for one in lists]
            rows = [dict(zip(self.kind.parts, map(_plain, one), strict=True)) for one in zip(*even, strict=True)]
            return [GivenRow(row) for row in rows if _is_filled(row)]
        lines = map(_plain, str(data.get(name, "")).splitlines())
        return [GivenRow(text=line) for line in dict.fromkeys(lines) if line]


class RowsField(forms.Field):
    """A policy field with one value for each filled-in row; its errors name the row they are about."""

    def __init__(self, kind: RowKind, *, label: str, hint: str) -> None:
        super().__init__(label=label, required=False, help_text=hint, widget=RowsWidget(kind))
        self.kind = kind

    def clean(self, value: Sequence[GivenRow] | None) -> tuple[Any, ...]:
        """Return the values of the rows; raise ``ValidationError`` with the number of each row that cannot be read."""
        given = value or ()
        if len(given) > AT_MOST:
            raise forms.ValidationError(f"At most {AT_MOST} rows; there are {len(given)}.")
        found, wrong = [], []
        for number, one in enumerate(given):
            try:
                found.append(self.kind.read(one.text or self.kind.line(**one.parts)))
            except (capture_lines.UnclearCapture, one_of_lines.UnclearRole) as unclear:
                # The message quotes what was typed, so a % in it must not be a placeholder.
                wrong.append(forms.ValidationError("%(says)s", params={"says": str(unclear), "row": number}))
        if wrong:
            raise forms.ValidationError(wrong)
        return tuple(found)

    def rows(self, value: Sequence[Any], wrong: Sequence[forms.ValidationError]) -> list[TypeRow]:
        """Return the rows to render: a policy's values, or what was sent with its errors."""
        said: dict[int, list[str]] = {}
        for error in wrong:
            if error.params:
                said.setdefault(int(error.params["row"]), []).extend(error.messages)
        return [TypeRow(number, self._shown(one), said.get(number, ())) for number, one in enumerate(value)]

    def _shown(self, one: GivenRow | OneOf | Capture) -> Parts:
        if not isinstance(one, GivenRow):
            return self.kind.shown(one)
        if not one.text:
            return one.parts
        try:
            return self.kind.shown(self.kind.read(one.text))
        except (capture_lines.UnclearCapture, one_of_lines.UnclearRole):
            return {self.kind.parts[0]: one.text}


def of_whole(wrong: Sequence[forms.ValidationError]) -> list[str]:
    """Return the errors that are about a field of rows as a whole."""
    return [said for error in wrong if not error.params for said in error.messages]


def _plain(text: str) -> str:
    return " ".join(str(text).split())


def _is_filled(row: Parts) -> bool:
    """Return whether someone filled in a row; choices and numbers that the form preset do not count."""
    return any(value for part, value in row.items() if part not in {"kind", "on"})


def _of_role(one: OneOf) -> Parts:
    return {
        "role": one.role,
        "schedule": one.schedule,
        "group": f"@{one.group}" if one.group else "",
        "otherwise": one.otherwise,
    }


def _of_capture(one: Capture) -> Parts:
    again = {"repeat": str(one.repeat), "every_min": str(one.every_min)} if one.repeat > 1 else {}
    return {
        "source": one.source,
        "kind": one.kind,
        "on": one.on,
        "seconds": str(one.seconds) if one.seconds else "",
    } | again


ROLES: Final = RowKind(("role", "schedule", "group", "otherwise"), one_of_lines.line, one_of_lines.read, _of_role)
CAPTURES: Final = RowKind(
    ("source", "kind", "on", "seconds", "repeat", "every_min"), capture_lines.line, capture_lines.read, _of_capture
)
