"""Play the story in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager

from stack.errors import StackError
from stack.outside import Records, SandboxAccount, SandboxWorkspace, until
from stack.story import choosing, written
from stack.story.desk import StoryDesk
from stack.story.scenes import SCENES, Scene
from stack.story.stage import Stage
from stack.supervisor.running import Stack
from stack.terminal import paint

Say = Callable[[str], None]
PLAYED = "  The story was played here before; `make demo STORY=again` plays it again."
OTHERS = "More stories: `make demo STORY={}`."


def play(stack: Stack, *, say: Say) -> None:
    """Play what STORY asks for through the sandbox; by default the short story, once for each data folder."""
    with opened(stack, say=say) as stage:
        try:
            for name in choosing.asked():
                _play_written(stage, written.read(name))
            if not choosing.asked():
                _play_short(stage)
        except StackError as error:  # what was started stays up for inspection
            say(paint(f"  The story stopped here. {error}", "red"))


@contextmanager
def opened(stack: Stack, *, say: Say) -> Iterator[Stage]:
    """Yield the stage of one stack."""
    workspace = SandboxWorkspace(stack.sandbox_url)
    with closing(Records(stack.database_url)) as records, closing(StoryDesk(stack, workspace)) as desk:
        yield Stage(workspace, records, SandboxAccount(stack.sandbox_url), desk, say)


def told(stage: Stage, scenes: Iterable[Scene]) -> Iterable[Scene]:
    """Yield scenes, each after its title was printed; the first once the workspace is known."""
    until(stage.records.knows_people, what="the workspace's people and groups have not been read")
    until(stage.records.knows_on_call, what="PagerDuty's people and shifts have not been read")
    for number, scene in enumerate(scenes, start=1):
        stage.tell("")
        stage.tell(f"  {paint(f'{number}  {scene.title}', 'cyan')}")
        if scene.says:
            stage.say(scene.says)
        yield scene


def _play_short(stage: Stage) -> None:
    if stage.records.codenames() and not choosing.short_again():
        stage.tell(paint(PLAYED, "grey"))
        return
    for scene in told(stage, SCENES):
        scene.play(stage)
    done = [one for one in stage.records.effects(stage.codename) if one["state"] == "done"]
    stage.tell("")
    stage.say(f"{len(done)} things done in Slack, none of them twice; {_entries(stage)} entries on the timeline.")
    stage.say(f"Read it as Ada or Farah, who are in: {_page(stage)}")
    stage.say(f"Its flame graphs, while it was slow and after: {_page(stage)}{paint('evidence/', 'bold')}")
    stage.say("Then as Marcus, who is not: for him the page does not exist.")
    stage.say(paint(OTHERS.format("|".join([*written.names(), choosing.ALL])), "grey"))


def _play_written(stage: Stage, story: written.Story) -> None:
    stage.tell("")
    stage.tell(f"  {paint(story.title, 'bold')}")
    stage.say(story.says)
    for scene in told(stage, choosing.scenes(story)):
        scene.play(stage)
    stage.tell("")
    stage.say(f"{_entries(stage)} entries on the timeline. Small programs made the files, after what was reported.")
    stage.say(f"Read it: {_page(stage)}")


def _entries(stage: Stage) -> int:
    return len(stage.records.events(stage.codename))


def _page(stage: Stage) -> str:
    return paint(f"{stage.desk.address}/incidents/{stage.codename}/", "bold")
