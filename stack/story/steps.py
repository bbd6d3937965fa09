"""What each kind of step in a written story does, through the door that a person would use."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from stack.story import profiles
from stack.story.stage import TAG, Stage
from stack.story.written import StoryStep

Given = Mapping[str, Any]
SEEN = re.compile(r'<a href="[^"]*/evidence/\d+/">([^<]*)</a>(?:(?!<a ).)*?<ul class="same-hot">(.*?)</ul>', re.DOTALL)
LINE = re.compile(r"<li>(.*?)</li>", re.DOTALL)
SENT_ALONG = ("phase", "variant", "unit", "source")


@dataclass(slots=True)
class Bindings:
    """The numbers behind a story's names, while it is played."""

    story: str
    evidence: dict[str, int] = field(default_factory=dict)
    claims: dict[str, int] = field(default_factory=dict)


def take(step: StoryStep, *, stage: Stage, names: Bindings) -> None:
    """Have someone take one step."""
    TAKEN[step.kind](stage, names, step.given)


def declare(stage: Stage, names: Bindings, given: Given) -> None:
    """Declare the incident in Slack."""
    stage.declares(given["by"], given["text"], where=given["where"])
    stage.watches()


def type_(stage: Stage, names: Bindings, given: Given) -> None:
    """Type a command in the incident's channel."""
    stage.types(given["by"], given["text"])
    stage.watches()


def write(stage: Stage, names: Bindings, given: Given) -> None:
    """Write a message there; with a reaction someone may put it on the timeline."""
    ts = stage.writes(given["by"], given["text"])
    if "pinned" in given:
        stage.workspace.act("react", user=given["pinned"], channel=stage.room, ts=ts, name="pushpin")
        stage.workspace.wait_idle()
        stage.does(given["pinned"], "reacts with 📌, and the message is on the timeline.")


def join(stage: Stage, names: Bindings, given: Given) -> None:
    """Join the channel."""
    for who in given["who"]:
        stage.workspace.act("join", user=who, channel=stage.room)
        stage.say(f"{who.capitalize()} joins #{stage.room}.")
    stage.workspace.wait_idle()


def evidence(stage: Stage, names: Bindings, given: Given) -> None:
    """Send a file through the API, and print what was read in it."""
    body, name = profiles.make(names.story, given["file"]), given["file"]
    query = {key: given[key] for key in SENT_ALONG if key in given} | _window(given.get("seconds", 0))
    query |= {"control": "1"} if given.get("control") else {}
    stage.does(given["by"], f"curl --data-binary @{name}", f"{_size(len(body))}: {given['title']}")
    sent = stage.desk.api(given["by"]).send(stage.codename, body, title=given["title"], file_name=name, **query)
    names.evidence[given["as"]] = n = int(sent["n"])
    stage.reads(n)


def find(stage: Stage, names: Bindings, given: Given) -> None:
    """Search a profile on its page, and print the exact share."""
    path = f"/incidents/{stage.codename}/evidence/{names.evidence[given['in']]}/search.json"
    stage.does(given["by"], f"searches for {given['text']}")
    page = stage.desk.visitor(given["by"]).get(f"{path}?{urlencode({'q': given['text']})}")
    share = json.loads(page.source)["share"]
    stage.found(f"{100 * share:.1f} % of it, exactly: {given['text']}")


def compare(stage: Stage, names: Bindings, given: Given) -> None:
    """Open two or more side by side, and print the sentence of that page."""
    others = [names.evidence[name] for name in given["with"]]
    stage.compares(given["by"], control=names.evidence[given["control"]], others=others, sample=given.get("sample", ""))


def link(stage: Stage, names: Bindings, given: Given) -> None:
    """Put a link on the timeline from Slack."""
    stage.types(given["by"], f"/incident evidence {given['url']} {given['title']}")
    names.evidence[given["as"]] = max(row["n"] for row in stage.records.evidence(stage.codename))
    stage.watches()


def claim(stage: Stage, names: Bindings, given: Given) -> None:
    """Add a hypothesis in Slack."""
    stage.types(given["by"], f"/incident finding {given['text']}")
    names.claims[given["as"]] = max(row["n"] for row in stage.records.findings(stage.codename))


def judge(stage: Stage, names: Bindings, given: Given) -> None:
    """Judge a hypothesis on its page, with evidence for it and against it."""
    path = f"/incidents/{stage.codename}/findings/{names.claims[given['claim']]}/"
    stage.does(given["by"], given["verdict"].replace("_", " "), given["text"])
    rests = {
        field: [str(names.evidence[name]) for name in given.get(word, ())]
        for field, word in (("supports", "for"), ("against", "against"))
    }
    stage.desk.visitor(given["by"]).fill(path, {"verdict": given["verdict"], "text": given["text"], **rests})
    stage.watches()


def seen(stage: Stage, names: Bindings, given: Given) -> None:
    """Print the earlier incidents that the evidence page recognises."""
    page = stage.desk.visitor(given["by"]).get(f"/incidents/{stage.codename}/evidence/")
    stage.does(given["by"], "Seen before?")
    for title, same in SEEN.findall(page.text):
        functions = "; ".join(" ".join(TAG.sub(" ", one).split()) for one in LINE.findall(same))
        stage.found(f"{title}: {functions}")


def _window(seconds: int) -> dict[str, str]:
    """Return a time window that ends now."""
    now = int(time.time())
    return {"from": str(now - seconds), "to": str(now)} if seconds else {}


def _size(count: int) -> str:
    return f"{count / 1024:,.0f} KiB" if count >= 2048 else f"{count} B"


TAKEN: Mapping[str, Callable[[Stage, Bindings, Given], None]] = {
    "declare": declare,
    "type": type_,
    "write": write,
    "join": join,
    "evidence": evidence,
    "find": find,
    "compare": compare,
    "seen": seen,
    "link": link,
    "claim": claim,
    "judge": judge,
}
