"""Every path of the project, and what an outsider may find there. A new path needs a row here.

A path with an incident's codename goes into ``OF_INCIDENTS``: the test requests it with every method and as everyone,
for a private incident and for a missing one, and only the name may differ. All others go into ``OF_NONE``, with what is
requested of them: those pages must not change by a byte when a private incident is created.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

NOT_THERE: Final = frozenset({401, 404, 405})
SAME_FOR_ALL: Final = frozenset({200, 302, 405, 422})
HOW: Final = (
    "add it to integrations/tests/outsiders/table.py: to OF_INCIDENTS when a codename stands in it, else to OF_NONE"
)


@dataclass(frozen=True, slots=True)
class Row:
    """How a path is tested: values for its other parameters, queries, and forms that are posted to it.

    ``answers`` are the statuses a known person may get; ``is_public`` paths answer anyone.
    """

    fill: Mapping[str, Sequence[str]] | None = None
    asks: Sequence[str] = ("",)
    posts: Sequence[Mapping[str, str]] = ({},)
    answers: frozenset[int] = NOT_THERE
    is_public: bool = False

    def addresses(self, route: str, codename: str = "") -> Iterator[str]:
        """Yield the paths of a route, for one incident if it contains a codename."""
        found = [route.replace("<slug:codename>", codename)]
        for name, values in (self.fill or {}).items():
            found = [one.replace(name, value) for one in found for value in values]
        for one in found:
            assert "<" not in one, f"{one}: its row has no value for this"
            yield f"/{one}"


N: Final = {"<int:n>": ("1",)}
BOXES: Final = "?small&q=rotate&search=rotate&name=rotate&root=1&control=1&with=2&type=0"
OF_EVIDENCE: Final = Row(N, asks=("", BOXES))
BASE, EVIDENCE = "incidents/<slug:codename>/", "incidents/<slug:codename>/evidence/"
API: Final = "api/v1/incidents/<slug:codename>/"
SECTION: Final = {"<slug:section>": ("summary", "no-such-section")}
VERBS: Final = ("resolve", "bring", "finish", "no-such-verb")

OF_INCIDENTS: Final[Mapping[str, Row]] = {
    BASE: Row(asks=("", "?n=1", "?kind=updates")),
    f"{BASE}live": Row(asks=("", "?n=1")),
    f"{BASE}stream": Row(asks=("", "?n=1")),
    f"{BASE}earlier": Row(asks=("", "?before=3")),
    f"{BASE}timeline": Row(asks=("", "?group=evidence&q=rotate&person=a", "?n=1", "?at=2026-01-01T00:00")),
    f"{BASE}history/<int:n>": Row(N),
    f"{BASE}access": Row(),
    f"{BASE}write": Row(posts=({}, {"text": "hello"}, {"text": "hello", "kind": "note"})),
    f"{BASE}<slug:verb>": Row({"<slug:verb>": VERBS}, posts=({}, {"text": "hello", "n": "1"})),
    f"{BASE}alerts": Row(asks=("", "?redact=Q1"), posts=({}, {"redact": "Q1"})),
    f"{BASE}replay": Row(posts=({}, {"do": "start", "speed": "10"}, {"do": "next"}, {"do": "answer", "text": "wait"})),
    f"{BASE}retype": Row(asks=("", "?to=major"), posts=({}, {"to": "major"})),
    f"{BASE}pages": Row(posts=({}, {"target": "policy/P1"})),
    f"{BASE}progress": Row(),
    f"{BASE}retry/<int:effect>": Row({"<int:effect>": ("1",)}),
    f"{BASE}pages/<int:page>/acknowledge": Row({"<int:page>": ("1",)}),
    f"{BASE}by-hand/<int:effect>": Row({"<int:effect>": ("1",)}),
    f"{BASE}retype/remains": Row(),
    f"{BASE}new-channel": Row(),
    f"{BASE}missing": Row(posts=({}, {"gap": "gap/archived"})),
    EVIDENCE: Row(asks=("", "?kind=profile")),
    f"{EVIDENCE}add": Row(posts=({}, {"link": "https://example.com/graph", "title": "A graph"})),
    f"{EVIDENCE}captures": Row(posts=({}, {"source": "checkout-api", "kind": "cpu"})),
    f"{EVIDENCE}commands": Row(),
    f"{EVIDENCE}compare/": OF_EVIDENCE,
    f"{EVIDENCE}compare.json": OF_EVIDENCE,
    f"{EVIDENCE}compare-search.json": OF_EVIDENCE,
    **{
        f"{EVIDENCE}<int:n>/{last}": OF_EVIDENCE
        for last in (
            *("", "withdraw", "again", "boxes.json", "search.json", "function.json", "functions/", "original"),
            *("folded", "pprof", "svg", "png", "speedscope/", "speedscope/app"),
        )
    },
    f"{EVIDENCE}<int:n>/speedscope/file/<str:name>": Row({**N, "<str:name>": ("profile.speedscope.json", "x.folded")}),
    f"{BASE}review": Row(),
    f"{BASE}review.md": Row(),
    f"{BASE}review.html": Row(),
    f"{BASE}review/state": Row(posts=({}, {"to": "published"}, {"to": "meeting", "on": "2026-01-01T00:00"})),
    f"{BASE}review/comments/<int:pk>/settle": Row({"<int:pk>": ("1",)}),
    f"{BASE}review/<slug:section>": Row(SECTION, posts=({}, {"text": "hello", "seen": "0.0"})),
    f"{BASE}review/<slug:section>/again": Row(SECTION, posts=({}, {"to": "2"})),
    f"{BASE}review/<slug:section>/comment": Row(SECTION, posts=({}, {"comment": "hello"})),
    f"{BASE}review/<slug:section>/versions": Row(SECTION),
    f"{BASE}findings/": Row(posts=({}, {"claim": "It is the cache"})),
    f"{BASE}findings/<int:n>/": Row(N, posts=({}, {"verdict": "supported", "text": "Look"})),
    f"{BASE}findings/about/<int:n>/": Row(N),
    # An access request gets the same answer for any codename; breaking the glass, with a reason, is reported.
    "access/<slug:codename>": Row(answers=SAME_FOR_ALL, posts=({}, {"because": ""})),
    "access/<slug:codename>/now": Row(answers=SAME_FOR_ALL, posts=({}, {"because": "please"})),
    "summaries/<slug:codename>": Row(),
    "api/v1/incidents/<slug:codename>": Row(),
    f"{API}events": Row(asks=("", "?after=1&limit=2")),
    f"{API}evidence": Row(asks=("", "?title=A+graph")),
    f"{API}evidence/": Row(asks=("", "?title=A+graph")),
    f"{API}evidence/<int:n>": Row(N),
}

# A member gets these with a token, as a stream that stays open, or only after something is published.
NOT_BY_PAGE: Final = frozenset(
    {one for one in OF_INCIDENTS if one.startswith("api/")} | {f"{BASE}stream", "summaries/<slug:codename>"}
)
# speedscope sets its styles from its script, which only its own page, in a frame of its own, may do.
POLICY_OF_THEIR_OWN: Final = frozenset({f"{EVIDENCE}<int:n>/speedscope/app"})

INSIGHTS: Final = ("types", "response", "interruptions", "evidence", "follow-ups")
FIGURES: Final = (
    "clarity",
    "paths",
    "held",
    "ended",
    "first-human",
    "mitigate",
    "pages",
    "picked",
    "by-night",
    "refuted",
    "evidence",
)
PK: Final = {"<int:pk>": ("1", "999")}
PUBLIC: Final = Row(is_public=True)
# ``{}`` stands for the private incident's codename, WORD for a word in everything written about it.
LOOKED_FOR: Final = ("", "?q={}", "?q=WORD", "?q=private", "?type=security", "?status=active", "?me=in", "?me=lead")
NARROWED: Final = (
    *(
        "?service=WORD",
        "?group=security",
        "?person=a",
        "?lead=a&since=2020-01-01",
        "?until=2099-01-01&q=printer",
        "?q=leaks+-tap",
    ),
    "?status=open&type=security&q=WORD",
    "?after=1.2099-01-01T00:00:00%2B00:00.{}",
)

OF_NONE: Final[Mapping[str, Row]] = {
    "closings/stream": Row(asks=("", "?of={}&now", "?of=no-such")),
    "health": PUBLIC,
    "ready": PUBLIC,  # reports the state of the service's parts, and no incident
    "metrics": PUBLIC,  # requires a token; not found when none is configured
    "slack/events": PUBLIC,  # signed; test_slack covers what arrives through it
    "pagerduty/webhook": PUBLIC,  # signed
    "tracker/webhook": PUBLIC,  # signed
    "sign-in/": PUBLIC,
    "sign-in/as/<int:pk>": Row({"<int:pk>": ("999",)}, is_public=True),
    "sign-in/with/<slug:key>": Row({"<slug:key>": ("no-such",)}, is_public=True),
    "sign-in/<slug:provider_id>/back": Row({"<slug:provider_id>": ("no-such",)}, is_public=True),
    "sign-in/again": Row(),
    "sign-in/again/code": Row(),
    "sign-in/again/key": Row(),
    "sign-in/code": PUBLIC,  # the second step, for someone not yet signed in
    "sign-out/": PUBLIC,
    "account/": Row(),
    "account/drills": Row(posts=({}, {"agrees": "1"})),
    "account/app": Row(),
    "account/app/remove": Row(),
    "account/codes": Row(),
    "account/codes/new": Row(),
    "account/key": Row(),
    "account/key/<int:pk>/remove": Row({"<int:pk>": ("999",)}),
    "account/second-factor": Row(),
    "account/sessions/<slug:ref>/end": Row({"<slug:ref>": ("no-such",)}),
    "account/sessions/end": Row(),
    "": Row(asks=(*LOOKED_FOR, *NARROWED)),
    "incidents/": Row(asks=LOOKED_FOR),
    "incidents.csv": Row(asks=(*LOOKED_FOR, *NARROWED)),
    "reviews": Row(),
    "jump": Row(asks=("", "?q={}", "?q=WORD", "?q=xylo", "?q=leaks")),
    "start/hide": Row(posts=({},)),
    "views/keep": Row(posts=({}, {"name": "WORD", "list": "?q=WORD&type=security"})),
    "views/<int:pk>/rename": Row(PK, posts=({}, {"name": "WORD", "list": "?q=WORD"})),
    "views/<int:pk>/drop": Row(PK),
    "insights/": Row(
        asks=("", "?since=2020-01-01&until=2099-01-01", "?type=security&samples=1", "?service=WORD", "?group=security")
    ),
    "insights/<slug:slug>": Row({"<slug:slug>": INSIGHTS}, asks=("?since=2020-01-01&until=2099-01-01",)),
    "insights/<slug:slug>.csv": Row({"<slug:slug>": FIGURES}, asks=("?since=2020-01-01&until=2099-01-01",)),
    "insights/<slug:slug>/<slug:row>": Row(
        {"<slug:slug>": ("held", "first-human", "paths"), "<slug:row>": ("security", "all", "1_ambiguous_security")},
        asks=("?since=2020-01-01&until=2099-01-01",),
    ),
    "follow-ups": Row(asks=("", "?mine=1", "?late=1", "?mine=1&late=1", "?service=checkout", "?from=50")),
    "access/": Row(posts=({}, {"codename": "{}"})),
    "declare": Row(asks=("", "?title=WORD&summary=WORD")),
    "declare/open": Row(asks=("", "?title=WORD", "?title=checkout")),
    "declare/plan": Row(asks=("", "?type=security", "?type=major")),
    "people": Row(asks=("", "?q=a", "?q=WORD", "?with={}", "?incident={}")),
    "people/roles": Row(),
    "people/roles/<int:pk>": Row(PK),
    "audit/": Row(asks=("", "?about=WORD", "?who=WORD&kind=read")),
    "audit/entries.csv": Row(),
    "types/": Row(),
    "types/add": Row(),
    "types/choices": Row(
        asks=tuple(f"?of={one}&q=WORD" for one in ("groups", "pages", "schedules", "people", "sources", "roles")),
    ),
    "types/<slug:slug>/": Row({"<slug:slug>": ("security", "ambiguous")}),
    "types/<slug:slug>/preview": Row({"<slug:slug>": ("security", "ambiguous")}),
    "types/<slug:slug>/versions/<int:number>": Row({"<slug:slug>": ("security",), "<int:number>": ("1",)}),
    "types/<slug:slug>/<slug:verb>": Row({"<slug:slug>": ("security",), "<slug:verb>": ("up", "no-such")}),
    "types/<slug:slug>/try": Row({"<slug:slug>": ("security", "ambiguous")}),
    "types/<slug:slug>/adopt": Row({"<slug:slug>": ("security", "ambiguous")}),
    "proposals/": Row(),
    "proposals/<slug:ref>/": Row({"<slug:ref>": ("no-such",)}),
    "proposals/<slug:ref>/<slug:verb>": Row({"<slug:ref>": ("no-such",), "<slug:verb>": ("confirm", "no-such")}),
    "tokens/": Row(),
    "tokens/<int:pk>/revoke": Row(PK),
    "api/v1/openapi.json": PUBLIC,  # describes the API, and nothing in it
    "api/<rest:elsewhere>": Row({"<rest:elsewhere>": ("no-such",)}, is_public=True),  # nothing is looked up
    "api/v1/incidents": Row(asks=LOOKED_FOR),
    "v1development/profiles": Row(),
    "oncall/": Row(asks=("", "?q=WORD")),
    "oncall/week/": Row(asks=("", "?q=WORD", "?week=next&q=WORD")),
    "oncall/people/": Row(asks=("", "?q=WORD")),
    "oncall/people/<int:pk>/match": Row(PK),
    "oncall/people/<int:pk>/part": Row(PK),
    "oncall/groups/": Row(),
    "oncall/groups/add": Row(),
    "oncall/groups/<int:pk>/": Row(PK),
    "oncall/groups/<int:pk>/edit": Row(PK),
    "oncall/groups/<int:pk>/delete": Row(PK),
    "oncall/groups/<int:pk>/<slug:verb>": Row({**PK, "<slug:verb>": ("no-such",)}),
    "oncall/rules/": Row(asks=("", "?try&title=WORD&service=S1", "?try&title=WORD&priority=P1")),
    "oncall/rules/add": Row(posts=({}, {"name": "x", "type": "security", "contains": "WORD", "try": "1"})),
    "oncall/rules/<int:pk>/": Row(PK),
    "oncall/rules/<int:pk>/delete": Row(PK),
    "oncall/rules/<int:pk>/<slug:verb>": Row({**PK, "<slug:verb>": ("no-such",)}),
}


def routes(patterns: list[URLPattern | URLResolver] | None = None, before: str = "") -> Iterator[str]:
    """Yield the route of every path in the project."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        assert isinstance(one.pattern, RoutePattern), f"{one.pattern}: write it with path(), so that it can be walked"
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        else:
            yield route
