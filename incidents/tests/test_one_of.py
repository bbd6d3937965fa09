"""Who is paged and who fills a role: as lines of the form, on a type's pages, and in the stored form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.models import IncidentType, Person
from incidents.policies import one_of_lines
from incidents.policies.policy import OneOf, Policy
from incidents.tests.conftest import Open
from incidents.tests.test_pages_types import FIELDS

LINE = "Platform leadership: on call for Platform leadership, else @platform-leadership, else ana@example.com"

roles = st.from_regex(r"\A[A-Za-z][A-Za-z0-9 &/-]{0,40}[a-z]\Z").map(lambda text: " ".join(text.split()))
handles = st.from_regex(r"\A[a-z0-9][a-z0-9._-]{0,40}\Z")
names = st.from_regex(r"\A[A-Za-z0-9][\w .:@/()&'-]{0,60}\Z").map(lambda text: " ".join(text.split()))
people = st.one_of(st.just(""), handles, st.emails().filter(lambda text: ":" not in text and "," not in text))


@st.composite
def one_ofs(draw: st.DrawFn) -> OneOf:
    group, schedule = draw(st.tuples(st.just("") | handles, st.just("") | names).filter(any))
    return OneOf(draw(roles), group, schedule, draw(people)[:120])


@given(one_ofs())
def test_what_is_said_of_a_role_reads_as_the_same(one: OneOf) -> None:
    assert one_of_lines.read(one_of_lines.said(one)) == one


@given(st.lists(one_ofs(), max_size=4), st.lists(names, max_size=4))
def test_the_stored_form_gives_the_policy_back(found: list[OneOf], pages: list[str]) -> None:
    policy = Policy("odd", "Odd", "Something odd", one_of=tuple(found), pages=tuple(pages))
    assert Policy.from_dict(policy.as_dict()) == policy


@pytest.mark.parametrize(
    ("line", "one"),
    [
        (LINE, OneOf("Platform leadership", "platform-leadership", "Platform leadership", "ana@example.com")),
        ("Scribe: @scribes", OneOf("Scribe", "scribes")),
        ("Scribe:@Scribes", OneOf("Scribe", "scribes")),
        ("Scribe: @scribes, else Ana Ruiz", OneOf("Scribe", "scribes", otherwise="Ana Ruiz")),
        ("Legal: on call for Legal", OneOf("Legal", schedule="Legal")),
        ("Legal: On Call For PSCHED1,else ana", OneOf("Legal", schedule="PSCHED1", otherwise="ana")),
        ("Legal: on call for Ops: EU, else @ops, else @ana", OneOf("Legal", "ops", "Ops: EU", "ana")),
        ("Team: EU: @ops, else ana@example.com", OneOf("Team: EU", "ops", otherwise="ana@example.com")),
    ],
)
def test_a_line_may_leave_parts_out(line: str, one: OneOf) -> None:
    assert one_of_lines.read(line) == one


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nobody", "does not match"),
        ("Scribe: ana@example.com", "does not match"),
        ("Scribe: @scri!bes", "is not a group handle"),
        (f"{'long ' * 20}: @scribes", "A role has at most 80 characters"),
        ("Scribe: @scribes, else ana@example.com@", "'ana@example.com@' is not a person"),
        ("Scribe: @scribes, else ana, else ben", "Nothing can follow 'ana'"),
        ("Scribe: @scribes, else on call for Ops", "'on call for Ops' is not a person"),
        (f"Scribe: on call for {'x' * 121}", "A schedule's name has at most 120 characters"),
    ],
)
def test_a_line_that_is_unclear_says_why(line: str, says: str) -> None:
    with pytest.raises(one_of_lines.UnclearRole, match=says):
        one_of_lines.read(line)


def test_the_page_of_a_type_takes_lines(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    client = browse(ada)
    given = FIELDS | {"slug": "rumour", "one_of": LINE, "pages": "Major incident\n  Checkout   API \n"}
    client.post("/types/add", given)
    policy = IncidentType.objects.get(slug="rumour").policy
    assert policy.pages == ("Major incident", "Checkout API")
    assert policy.one_of == (one_of_lines.read(LINE),)
    edit = client.get("/types/rumour/").content.decode()
    inputs = " ".join(edit.split())
    assert 'name="one_of.role" value="Platform leadership"' in inputs
    assert 'name="one_of.otherwise" value="ana@example.com"' in inputs
    assert "Major incident\nCheckout API" in edit
    for address in ("/types/", "/types/rumour/versions/1"):
        shown = client.get(address).content.decode()
        assert "Pages Major incident" in shown
        assert "on call for Platform leadership, else one person from" in " ".join(shown.split())
        assert "else ana@example.com" in shown


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"one_of": "Scribe: @a\nscribe: @b"}, "list it once"),
        ({"one_of": "Scribe: luck"}, "does not match"),
        ({"pages": "x" * 121}, "At most 120 characters per line"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    given: dict[str, str], says: str, shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    response = browse(ada).post("/types/add", FIELDS | {"slug": "ok"} | given)
    assert (response.status_code, says in response.content.decode()) == (422, True)


def test_what_an_edit_changes_is_shown_as_it_was_written(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    given = FIELDS | {"version": "1", "one_of": "Scribe: on call for Ops, else ana", "pages": "Major incident"}
    shown = browse(ada).post("/types/internal/preview", given).content.decode()
    assert "<del>none</del> <ins>Scribe: on call for Ops, else ana</ins>" in shown
    assert "<del>no one</del> <ins>Major incident</ins>" in shown
