"""The tour from start to end."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any

from stack.outside import Visitor
from stack.story.playing import opened, told
from stack.story.scenes import SCENES
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from stack.terminal import paint, say
from stack.tour import again, sent, stories
from stack.tour.after import AFTER, Tour
from stack.tour.checks import Checks

# Short, so that a killed worker's claims are soon taken over.
ENV = {"FIREKIND_LEASE_S": "3"}
VISITORS = {"ada": "Ada Okafor", "farah": "Farah Haddad", "hannah": "Hannah Weiss", "grace": "Grace Mwangi"}


def main() -> None:
    """Play the story and check it; raises NotSo at the first failed check."""
    began = time.monotonic()
    say(paint("  Starting a throwaway stack ...", "grey"))
    with throwaway(env=ENV) as stack, opened(stack, say=say) as stage:
        tour = Tour(stage, Checks(say), stack.base_url, partial(_shown, stack), {})
        for scene in told(stage, SCENES):
            tour.visitors = tour.visitors or _visitors(stack)
            tour.remember()
            scene.play(stage)
            tour.workspace.wait_idle()
            AFTER[scene.name](tour)
        _more(tour, stack)
        say()
        say(f"  {tour.checks.count} checks passed in {time.monotonic() - began:.0f} s.")


def _shown(stack: Stack, codename: str) -> dict[str, Any]:
    """Return the terminal's JSON output for an incident."""
    said: dict[str, Any] = json.loads(stack.manage("incident", "show", codename, "--json").stdout)
    return said


def _visitors(stack: Stack) -> dict[str, Visitor]:
    known = {handle: Visitor(stack.base_url).sign_in_as(name) for handle, name in VISITORS.items()}
    return {**known, "nobody": Visitor(stack.base_url)}


def _more(tour: Tour, stack: Stack) -> None:
    say()
    say(f"  {paint('Again', 'cyan')}")
    again.nothing_to_do(tour, stack)
    say()
    say(f"  {paint('Evidence from the host that hurts', 'cyan')}")
    sent.evidence(tour, stack)
    stories.reviews(tour)
    say()
    say(f"  {paint('The worker is killed', 'cyan')}")
    again.killed_worker(tour, stack)
