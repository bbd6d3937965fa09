"""The rows of the type editor: fields become the line they stand for, or are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from django.http import QueryDict
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incidents.forms import TypeForm
from incidents.models import IncidentType, Person
from incidents.policies.policy import Capture, OneOf
from incidents.tests.conftest import Open
from incidents.tests.test_captures import captures
from incidents.tests.test_one_of import one_ofs

FIELDS = {"name": "Rumour", "slug": "rumour", "says": "Somebody said so.", "colour": "green"}
Rows = Mapping[str, Sequence[str]]
ROLE = ("role", "schedule", "group", "otherwise")


TYPED = st.text(st.sampled_from("a1% (s)d:@,{é"), max_size=8)


def sent(more: Rows | None = None, *, roles: Sequence[OneOf] = (), found: Sequence[Capture] = ()) -> QueryDict:
    data = QueryDict(mutable=True)
    data.update(FIELDS)
    for part in ROLE:
        data.setlist(f"one_of.{part}", ["", *(getattr(one, part) for one in roles)])
    for part in ("source", "kind", "on", "seconds", "repeat", "every_min"):
        data.setlist(f"captures.{part}", [str(getattr(one, part)) for one in found])
    for name, values in (more or {}).items():
        data.setlist(name, list(values))
    return data


@settings(max_examples=12)
@given(st.lists(one_ofs(), max_size=3, unique_by=lambda one: one.role.casefold()))
def test_roles_that_are_filled_in_are_the_roles_of_the_policy(roles: list[OneOf]) -> None:
    form = TypeForm(sent(roles=roles))
    assert form.is_valid(), form.errors
    assert form.policy().one_of == tuple(roles)
    assert [row.value["role"] for row in TypeForm(policy=form.policy()).role_rows()] == [one.role for one in roles]
    assert TypeForm(sent(roles=roles)).role_rows()[:1] == form.role_rows()[:1]


@settings(max_examples=12)
@given(st.lists(captures(), max_size=3, unique_by=lambda one: one.key))
def test_profiles_that_are_filled_in_are_those_of_the_policy(found: list[Capture]) -> None:
    snapshots = [str(one.seconds) if one.seconds else "" for one in found]
    form = TypeForm(sent({"captures.seconds": snapshots}, found=found))
    assert form.is_valid(), form.errors
    assert form.policy().captures == tuple(found)


@settings(max_examples=60)
@given(st.tuples(*[TYPED] * 4), st.tuples(*[TYPED] * 2))
@example(("50%", "", "%s", ""), ("%(row)s", "5%"))
def test_a_row_that_is_refused_comes_back_as_it_was_typed(
    role: tuple[str, str, str, str], capture: tuple[str, str]
) -> None:
    source, seconds = capture
    captured = {"captures.source": [source], "captures.kind": ["cpu"], "captures.seconds": [seconds]}
    form = TypeForm(sent({f"one_of.{part}": [one] for part, one in zip(ROLE, role, strict=True)} | captured))
    for rows in (form.role_rows(), form.capture_rows()):
        assert form.is_valid() or all(str(one) for row in rows for one in row.wrong)
    shown = [[row.value[part] for part in ROLE] for row in form.role_rows() if row.wrong]
    assert shown in ([], [[" ".join(one.split()) for one in role]])


@settings(max_examples=40)
@given(st.tuples(*[st.sampled_from(["", "a", "a: @b", "on call for x", ", else @y", "@z", "a@b.c"])] * 4))
def test_a_row_says_what_stands_in_its_fields_or_is_refused(parts: tuple[str, str, str, str]) -> None:
    data = sent()
    for part, value in zip(ROLE, parts, strict=True):
        data.setlist(f"one_of.{part}", [value])
    form = TypeForm(data)
    if form.is_valid() and any(parts):
        [one] = form.policy().one_of
        assert (one.role, one.schedule) == parts[:2]
        assert (one.group, one.otherwise) == tuple(part.lstrip("@") for part in parts[2:])


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"one_of.role": ["Scribe"], "one_of.group": [""]}, "Say who can be Scribe"),
        ({"one_of.role": [""], "one_of.group": ["@scribes"]}, "Name the role"),
        ({"one_of.role": ["Scribe"], "one_of.group": ["@scr!bes"]}, "is not a group handle"),
    ],
)
def test_what_is_wrong_is_said_in_its_row(more: dict[str, list[str]], says: str) -> None:
    rows = {
        "one_of.role": ["Lead"],
        "one_of.schedule": [""],
        "one_of.group": ["@support"],
        "one_of.otherwise": [""],
    }
    form = TypeForm(sent({name: [*value, *more.get(name, [""])] for name, value in rows.items()}))
    fine, wrong = form.role_rows()
    assert (fine.wrong, says in " ".join(wrong.wrong)) == ((), True)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"seconds": ["soon"]}, "Use a number of seconds"),
        ({"source": [""]}, "Name the source"),
        ({"every_min": ["5"]}, "how many times"),
        ({"repeat": ["99"]}, "Use 1 to 20 times"),
    ],
)
def test_a_profile_that_cannot_be_read_is_said_in_its_row(parts: dict[str, list[str]], says: str) -> None:
    filled = {"source": ["checkout-api"], "kind": ["cpu"], "on": ["declare"], "seconds": ["9"], "repeat": [""]}
    data = sent({f"captures.{name}": values for name, values in ({**filled, "every_min": [""]} | parts).items()})
    [row] = TypeForm(data).capture_rows()
    assert says in " ".join(row.wrong)
    assert row.value["kind"] == "cpu"


def test_the_preview_sends_every_row_again(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    rows = {"one_of.role": ["Scribe", ""], "one_of.group": ["@scribes", ""], "one_of.schedule": ["", ""]}
    client = browse(ada)
    page = client.post("/types/internal/preview", FIELDS | {"version": "1"} | rows).content.decode()
    assert "<ins>Scribe: @scribes</ins>" in page
    assert '<input type="hidden" name="one_of.role" value="Scribe">' in page
    back = client.post("/types/internal/preview", FIELDS | {"version": "1", "back": "1"} | rows).content.decode()
    assert 'name="one_of.role" value="Scribe"' in back
