"""One kind of process in this process's place, for a Procfile or a container: settings are checked first."""

import os
from collections.abc import Callable

from config import env
from stack.commands import PROCESSES


def _become(name: str) -> Callable[[], None]:
    def become() -> None:
        given = env.present(env.given())
        if name != "sandbox":
            env.load()
        argv = PROCESSES[name](given)
        os.execvp(argv[0], argv)  # noqa: S606 (our own words, and a shell would swallow signals)

    return become


web = _become("web")
worker = _become("worker")
evidence = _become("evidence")
beat = _become("beat")
sandbox = _become("sandbox")
socket = _become("socket")
