"""Play the story for whoever sits at the terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing

from stack.errors import StackError
from stack.outside import Records, Workspace, until
from stack.running import Stack
from stack.story.scenes import SCENES, Scene
from stack.story.stage import Stage
from stack.terminal import paint

AGAIN = "  The story was played here before; `make demo STORY=again` plays it once more."


def play(stack: Stack, *, say: Callable[[str], None]) -> None:
    """Play the story through the sandbox, once for each data folder. `STORY=again` plays it once more."""
    with closing(Records(stack.database_url)) as records:
        if records.codenames() and os.environ.get("STORY") != "again":
            say(paint(AGAIN, "grey"))
            return
        stage = Stage(Workspace(stack.sandbox_url), records, say)
        try:
            for scene in told(stage, SCENES):
                scene.play(stage)
            _end(stage, stack)
        except StackError as error:  # what was started stays up to be looked at
            say(paint(f"  The story stopped here. {error}", "red"))


def told(stage: Stage, scenes: Iterable[Scene]) -> Iterable[Scene]:
    """Give scenes one by one, each after its title was told; the first once the workspace is known."""
    until(stage.records.knows_people, what="nobody has read the workspace's people and groups")
    for number, scene in enumerate(scenes, start=1):
        stage.tell("")
        stage.tell(f"  {paint(f'{number}  {scene.title}', 'cyan')}")
        if scene.says:
            stage.say(scene.says)
        yield scene


def _end(stage: Stage, stack: Stack) -> None:
    done = [one for one in stage.records.effects(stage.codename) if one["state"] == "done"]
    events = stage.records.events(stage.codename)
    page = f"{stack.env.get('FIREKIND_BASE_URL') or stack.base_url}/incidents/{stage.codename}/"
    stage.tell("")
    stage.say(f"{len(done)} things done in Slack, none of them twice; {len(events)} entries on the timeline.")
    stage.say(f"Read it as Ada or Farah, who are in: {paint(page, 'bold')}")
    stage.say("Then as Hannah, who is not: for her the page does not exist.")
