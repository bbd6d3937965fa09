"""What a ring of the beat asks for: several looks for work in one message, each done in a thread of its own."""

from typing import Final

from config.celery import app
from config.messages import ROUND
from workflows.effects.keyed_executor import Aside

AT_ONCE: Final = 6
Job = tuple[str, tuple[object, ...]]


def _do(job: Job) -> None:
    name, arguments = job
    app.tasks[name](*arguments)


# A look that still goes on when it is asked for again is done once more afterwards, and never beside itself.
jobs: Final[Aside[Job]] = Aside(_do, at_once=AT_ONCE)


@app.task(name=ROUND)
def go(*tasks: str) -> None:
    """Do each of these tasks soon, but for one that only a newer beat and newer workers know."""
    for name in tasks:
        if name in app.tasks:
            jobs.ask((name, ()))
