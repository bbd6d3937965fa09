"""What a policy captures: in the types file, as a line of the form, and in its stored form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.models import IncidentType, Person
from incidents.policies import capture_lines, policy_file
from incidents.policies.policy import COUNTS, MEASURES, MOMENTS, Capture, Policy
from incidents.tests.conftest import Open
from incidents.tests.test_pages_types import FIELDS

FILE = """
types:
  - slug: odd
    name: Odd
    says: Something odd
    captures:
"""


def numbers(name: str) -> st.SearchStrategy[int]:
    low, high = COUNTS[name]
    return st.integers(low, high)


@st.composite
def captures(draw: st.DrawFn) -> Capture:
    kind = draw(st.sampled_from(sorted(MEASURES)))
    seconds = draw(numbers("seconds") if MEASURES[kind].all else st.integers(1, COUNTS["seconds"][1]))
    source = draw(st.from_regex(r"\A[a-z0-9][a-z0-9._-]{0,39}\Z"))
    repeat = draw(numbers("repeat"))
    every = {"every_min": draw(numbers("every_min"))} if repeat > 1 else {}
    return Capture(source, kind, draw(st.sampled_from(MOMENTS)), seconds, repeat, **every)


@given(captures())
def test_what_is_said_of_a_capture_reads_as_the_same(capture: Capture) -> None:
    assert capture_lines.read(capture_lines.said(capture)) == capture


@given(st.lists(captures(), max_size=4))
def test_the_stored_form_gives_the_policy_back(found: list[Capture]) -> None:
    policy = Policy("odd", "Odd", "Something odd", captures=tuple(found))
    assert Policy.from_dict(policy.as_dict()) == policy


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("everything", "does not match"),
        ("15 s of luck from checkout-api on declare", "'luck' cannot be captured"),
        ("15 s of CPU from checkout-api on sunday", "'sunday' is not a trigger"),
        ("9999 s of CPU from checkout-api on declare", "Use 0 to 300 seconds, not 9999"),
        ("0 s of CPU from checkout-api on declare", "Add a duration"),
        ("CPU from checkout-api on declare, 99 times", "Use 1 to 20 times, not 99"),
    ],
)
def test_a_line_that_is_unclear_says_why(line: str, says: str) -> None:
    with pytest.raises(capture_lines.UnclearCapture, match=says):
        capture_lines.read(line)


@pytest.mark.parametrize(
    ("line", "capture"),
    [
        ("CPU from checkout-api on declare", Capture("checkout-api", "cpu", "declare", 15)),
        ("the heap from checkout-api on mitigate", Capture("checkout-api", "heap", "mitigate", 0)),
        ("capture 30 seconds of cpu from Checkout-API on Retype", Capture("checkout-api", "cpu", "retype", 30)),
        ("5 s of cpu from a on declare, 3 times every 10 min", Capture("a", "cpu", "declare", 5, 3, 10)),
    ],
)
def test_a_line_may_be_short(line: str, capture: Capture) -> None:
    assert capture_lines.read(line) == capture


def test_the_file_names_captures() -> None:
    text = f"{FILE}      - {{source: checkout-api, kind: cpu, on: declare, seconds: 10, repeat: 2, every_min: 3}}"
    (policy,) = policy_file.parse(text, file="types.yaml").policies
    assert policy.captures == (Capture("checkout-api", "cpu", "declare", 10, 2, 3),)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{source: a, kind: cpu}", "types.yaml:7: odd.captures[0].on: is missing"),
        ("{source: A b, kind: cpu, on: declare}", "types.yaml:7: odd.captures[0].source: is not the name of a source"),
        ("{source: a, kind: luck, on: declare}", "types.yaml:7: odd.captures[0].kind: must be one of cpu, wall"),
        ("{source: a, kind: cpu, on: sunday}", "types.yaml:7: odd.captures[0].on: must be one of declare"),
        (
            "{source: a, kind: cpu, on: declare, seconds: 0}",
            "types.yaml:7: odd.captures[0].seconds: must be at least 1",
        ),
        (
            "{source: a, kind: cpu, on: declare, seconds: 1000}",
            "types.yaml:7: odd.captures[0].seconds: must be a whole",
        ),
        ("{source: a, kind: cpu, on: declare, url: x}", "types.yaml:7: odd.captures[0].url: is not known"),
        ("nothing", "types.yaml:7: odd.captures[0]: must be a mapping"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(entry: str, says: str) -> None:
    with pytest.raises(policy_file.BadTypesFile) as bad:
        policy_file.parse(f"{FILE}      - {entry}\n", file="types.yaml")
    assert any(str(one).startswith(says) for one in bad.value.problems), bad.value.problems


def test_the_same_twice_is_named() -> None:
    entry = "      - {source: a, kind: cpu, on: declare}\n"
    with pytest.raises(policy_file.BadTypesFile, match=r"types.yaml:8: odd.captures\[1\]: asks for cpu of a twice"):
        policy_file.parse(f"{FILE}{entry}{entry}", file="types.yaml")


def test_the_page_of_a_type_takes_lines(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    client = browse(ada)
    lines = "15 s of CPU from checkout-api on declare\nthe heap from checkout-api on mitigate"
    client.post("/types/add", FIELDS | {"slug": "rumour", "captures": lines})
    assert [one.kind for one in IncidentType.objects.get(slug="rumour").policy.captures] == ["cpu", "heap"]
    assert "Captures 15 s of CPU from checkout-api on declare" in client.get("/types/").content.decode()
    edit = client.get("/types/rumour/").content.decode()
    assert edit.count('name="captures.source" value="checkout-api"') == 2
    wrong = client.post("/types/add", FIELDS | {"slug": "other", "captures": "luck"})
    assert (wrong.status_code, "does not match" in wrong.content.decode()) == (422, True)
