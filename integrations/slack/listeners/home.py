"""The Home tab: the open incidents that its viewer may see, with what can be done about each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils import timezone

from incidents import people
from incidents.models import Incident, Person
from integrations.slack import blocks, places, replying, setup, words
from integrations.slack.delivered import Deed, Delivered
from integrations.slack.listeners import read
from workflows import ports

SHOWN: Final = 30
DECLARE: Final = "firekind:declare"


def opened(told: Delivered) -> Deed | None:
    """Draw the tab when somebody opens it. Drawing it twice does no harm, so nothing is noted down."""
    if told.text("tab") == "home":
        viewer = people.by_chat_id(told.text("user"))
        replying.call("views.publish", user_id=told.text("user"), view=view(viewer))
    return None


def view(viewer: Person) -> blocks.Block:
    """Build the tab for one viewer."""
    found = list(places.seen(viewer).filter(active=True)[: SHOWN + 1])
    declare = blocks.button("Declare an incident", action_id=DECLARE, style="primary")
    links = blocks.button("Open Firekind", action_id="firekind:open", url=f"{setup.base_url()}/")
    parts = [blocks.header("Open incidents"), blocks.actions(declare, links)]
    if not found:
        parts.append(blocks.section("Nothing is open that you can see."))
    channels = places.channels(found)
    for incident in found[:SHOWN]:
        parts += _incident(incident, channels)
    if len(found) > SHOWN:
        parts.append(blocks.context(words.link(f"{setup.base_url()}/", "There are more")))
    return {"type": "home", "blocks": parts}


def _incident(incident: Incident, channels: Mapping[int, str]) -> list[blocks.Block]:
    paging = [("Page", "page")] if ports.pager() is not None else []
    verbs = (
        blocks.button(label, action_id=f"firekind:{verb}", value=incident.codename)
        for label, verb in (("Update", "update"), ("Change type", "retype"), *paging, ("Resolve", "resolve"))
    )
    return [
        blocks.divider(),
        blocks.section(read.line(incident, channels, at=timezone.now())),
        blocks.actions(*verbs),
    ]
