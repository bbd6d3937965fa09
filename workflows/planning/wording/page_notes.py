"""What people should know about pages before relying on them: who is not paged, or cannot be reached. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from incidents import sentences
from workflows.planning.pages import OPENING, Callee, Paged, RequestedPage, WantedPage, asked_again, is_unsent

# Key prefixes of warnings about unsent pages.
MAINTENANCE, UNHEARD, NOBODY, SILENT = "maintenance/", "unheard/", "nobody/", "silent/"


def missing(
    names: Sequence[str], *, callees: Mapping[str, Callee | None], paged: Sequence[Paged], type_name: str
) -> Iterator[tuple[str, str]]:
    """Yield key and words for targets that a policy pages and the pager does not have."""
    for name in names:
        if any(one.goes_to(name) and not (one.is_void or one.called_off) for one in paged):
            continue
        if name not in callees:
            says = (
                f"PagerDuty could not be read yet, so {name} is not paged. Retrying automatically. If this persists, "
                "page by hand and check On-call for what is wrong."
            )
        elif (callee := callees[name]) is None:
            says = (
                f"PagerDuty has no escalation policy or service {name}, so no one is paged for it. Create one with "
                f"that name, or change the type {type_name}."
            )
        elif not callee.service:
            says = f"{name} has no service to open a page on. Add one, or set PAGERDUTY_SERVICE."
        else:
            continue
        yield f"page/{name}", says


def in_maintenance(wanted: Iterable[WantedPage], *, paged: Sequence[Paged]) -> Iterator[tuple[str, str]]:
    """Yield key and words for each page still to be opened on a service in a maintenance window."""
    for one in _still_to_page(wanted, paged=paged):
        if one.paused:
            says = f"The PagerDuty service for {one.name} is in a maintenance window, so the page may notify no one."
            whom = sentences.enumerated(one.names) or "the person on call"
            yield f"{MAINTENANCE}{one.ref}", f"{says} End the window in PagerDuty, or call {whom}."


def nobody_on_call(wanted: Iterable[WantedPage], *, paged: Sequence[Paged]) -> Iterator[tuple[str, str]]:
    """Yield key and words for each page still to be opened that the pager will refuse, as no one is on call for it."""
    for one in _still_to_page(wanted, paged=paged):
        if one.nobody:
            says = f"No one is on call for {one.name}, so PagerDuty won't accept a page for it."
            yield f"{NOBODY}{one.ref}", f"{says} Page someone else, or put someone on call in PagerDuty."


def unheard(wanted: Iterable[WantedPage], *, paged: Sequence[Paged]) -> Iterator[tuple[str, str]]:
    """Yield key and words for each page still to be opened that goes to the user it is opened as."""
    for one in _still_to_page(wanted, paged=paged):
        if one.unheard:
            says = f"The page to {one.name} notifies no one: it goes to the user in PAGERDUTY_FROM, who opens it."
            yield f"{UNHEARD}{one.ref}", f"{says} Call someone, and set it to a user who is never on call."


def silent(wanted: Iterable[WantedPage], *, paged: Sequence[Paged]) -> Iterator[tuple[str, str]]:
    """Yield key and words for each page still to be opened that goes to someone the pager has no rule to notify."""
    for one in _still_to_page(wanted, paged=paged):
        if one.silent:
            says = f"{unnotified(one.silent)}, so their phone does not ring for {one.name}."
            yield f"{SILENT}{one.ref}", f"{says} Call them, or have a rule added to their profile in PagerDuty."


def unnotified(names: Sequence[str]) -> str:
    """Say that the pager has no rule to notify these people of a page."""
    return f"PagerDuty has no rule to notify {sentences.enumerated(names)} of an urgent page"


def sent_all_the_same(key: str, *, paged: Iterable[Paged]) -> str:
    """Say that a page went out despite this warning; empty for any other gap, and if none was sent."""
    if not key.startswith((MAINTENANCE, UNHEARD, NOBODY, SILENT)):
        return ""
    ref = key.partition("/")[2]
    sent = next((one for one in paged if one.ref == ref and one.is_open and one.status != OPENING), None)
    return f"The page to {sent.name} was sent anyway" if sent else ""


def _still_to_page(wanted: Iterable[WantedPage], *, paged: Iterable[Paged]) -> Iterator[Callee]:
    sent = {one.key for one in paged if not one.called_off and one.status != OPENING}
    return (page.callee for page in wanted if page.key not in sent)


def unsent(asked: Sequence[RequestedPage], *, paged: Sequence[Paged]) -> Iterator[tuple[str, str]]:
    """Yield key and words for each page requested by hand that the pager would refuse now.

    It no longer applies once the same target is paged under another id, no matter who requested that.
    """
    there = {page.key: page for page in paged}
    here = {page.name.casefold() for page in paged if not (page.elsewhere or page.is_void or page.called_off)}
    for one, is_again in asked_again(asked):
        name = one.callee.name
        if one.callee.gone and is_unsent(one, there) and not is_again and name.casefold() not in here:
            says = f"The page to {name} was not sent: PagerDuty no longer lists {name} under the same ID."
            yield f"sent/{one.key}", f"{says} Page {name} again, or someone else."


def left_elsewhere(paged: Iterable[Paged], *, neutral: str = "") -> Iterator[tuple[str, str]]:
    """Yield key and words for each page in an account where nothing can be changed now.

    ``neutral`` is the title that a private incident's pages should have, empty for a public one.
    """
    for one in paged:
        titled = bool(neutral) and one.title not in {"", neutral}
        if not one.elsewhere or one.unsent or not (one.is_open or titled):
            continue
        says = (
            f"The page to {one.name} is in a PagerDuty account that is no longer connected, so Firekind can't see or "
            "change it."
        )
        says += " Its title says what this is about: change it there by hand." if titled else ""
        says += f" Resolve it there, and page {one.name} again if no one has answered." if one.is_open else ""
        yield f"account/{one.key}", f"{says} Or connect that account again."


def strangers(wanted: Iterable[WantedPage], *, private: bool) -> Iterator[tuple[str, str]]:
    """Yield key and words for each person who is paged but not reached, once across all pages.

    In a private incident, people an earlier page did not bring in do not count.
    """
    found = {one.id: one for page in wanted if page.brings or not private for one in page.callee.strangers}
    for id, one in sorted(found.items()):
        yield f"callee/{id}", one.says(private=private)
