"""The evidence stories: each ends in a review that says what was measured, believed and ruled out, and no more."""

from __future__ import annotations

from stack.story import choosing, written
from stack.story.playing import told
from stack.story.stage import Stage
from stack.tour import review
from stack.tour.after import Tour
from stack.tour.checks import Checks


def reviews(tour: Tour) -> None:
    """Play every evidence story to its end, and check its review sentence by sentence."""
    for name in written.names():
        story = written.read(name)
        tour.stage.tell("")
        tour.stage.tell(f"  {story.title}")
        stage = Stage(tour.workspace, tour.records, tour.stage.account, tour.stage.desk, lambda _: None)
        for scene in told(stage, choosing.scenes(story)):
            scene.play(stage)
        tour.workspace.wait_idle()
        _check(tour.checks, stage, story)


def _check(checks: Checks, stage: Stage, story: written.Story) -> None:
    reader = stage.desk.visitor(next(story.steps).given["by"])
    text = review.on_the_timeline(checks, stage.records, stage.codename, reader=reader, sections=review.ALWAYS)
    evidence = [one["title"] for one in stage.records.evidence(stage.codename)]
    claims = [one["claim"] for one in stage.records.findings(stage.codename)]
    review.holds(checks, "names all that was attached", text, evidence)
    review.holds(checks, "names all that was believed", text, claims)
    verdicts = [one.given["text"] for one in story.steps if one.kind == "judge"]
    review.holds(checks, "says why each was believed or ruled out", text, verdicts)
