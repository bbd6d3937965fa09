"""What people see on the web: participants, outsiders, and those not signed in."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import quote_plus

from stack.outside import VisitedPage, Visitor
from stack.tour.checks import Checks

NOWHERE = "nobody-named-this"
PERSON = re.compile(r'<li><span>(.*?)</span><span class="why">(.*?)</span>')
# Every page and fragment of an incident that GET can request.
PAGES = (
    "", "live?n=0", "earlier", "stream?n=0", "history/1", "progress", "retype", "lead", "bring", "rename", "summary",
    "services", "mitigate", "resolve", "cancel", "duplicate", "archive", "edit?n=1", "retract?n=1", "role",
    "review", "review.md", "review.html",
)  # fmt: skip


def seen_by(checks: Checks, visitor: Visitor, codename: str, *, who: str, says: tuple[str, ...]) -> None:
    """Check that someone can read the page, and finds it in the list."""
    page = visitor.get(f"/incidents/{codename}/")
    checks.so(f"{who} can read the page", page.status == 200, instead=page.status)
    missing = [word for word in says if word not in page.text]
    checks.so(f"it says {', '.join(f'“{one}”' for one in says)}", not missing, instead=f"without {missing}")
    checks.so("the list shows it", codename in visitor.get("/").text)


def names_people(checks: Checks, visitor: Visitor, codename: str, *, people: list[dict[str, Any]]) -> None:
    """Check that the page names these people and no others, each with every reason."""
    text = visitor.get(f"/incidents/{codename}/progress").text
    panel = text.partition('id="people"')[2]
    shown = {unescape(name): unescape(why) for name, why in PERSON.findall(panel)}
    checks.same("the page names them, too", shown, [one["name"] for one in people])
    differ = {one["name"]: shown[one["name"]] for one in people if shown[one["name"]] != one["why"]}
    checks.so("with the same reasons", not differ, instead=differ)


def progress_is_done(checks: Checks, visitor: Visitor, codename: str) -> None:
    """Check that the plan on the page has nothing left to do."""
    page = visitor.get(f"/incidents/{codename}/progress")
    checks.so("the plan on the page says “all done”", page.status == 200 and "all done" in page.text)


def hidden_from(checks: Checks, visitor: Visitor, codename: str, *, who: str, title: str) -> None:
    """Check that for someone the incident does not exist: on no page, in no list, in no search."""
    asked = {path: visitor.get(f"/incidents/{codename}/{path}") for path in PAGES}
    open_ = {path or "page": page.status for path, page in asked.items() if page.status != 404}
    checks.so(f"{who} gets 404 on all {len(PAGES)} pages of it", not open_, instead=open_)
    absent = visitor.get(f"/incidents/{NOWHERE}/")
    same = _without(asked[""], codename) == _without(absent, NOWHERE)
    checks.so("the same 404 as for an incident that never was", same)
    lists = [visitor.get(path).text for path in ("/", f"/?q={quote_plus(title)}", f"/?q={codename}", "/?status=ended")]
    checks.so(f"no list and no search shows it to {who}", not any(f"i-{codename}" in text for text in lists))


def asks_for_a_name(checks: Checks, visitor: Visitor, codename: str) -> None:
    """Check that without signing in there is only the sign-in page."""
    page = visitor.get(f"/incidents/{codename}/")
    to = page.headers.get("location", "")
    checks.so(
        "who has not signed in is asked to", page.status == 302 and to.startswith("/sign-in/"), instead=page.status
    )


def _without(page: VisitedPage, codename: str) -> str:
    return page.text.replace(codename, "")
