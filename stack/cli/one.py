"""One kind of process in this process's place, for a Procfile or a container: settings are checked first.

`--host 0.0.0.0` listens on every address of a container whose ports are published on the loopback alone: what is
reached from inside is then up to the container, so the settings do not say it.
"""

import os
from collections.abc import Callable

from config import env
from config.parsing import sandbox as rules
from stack.errors import StackError
from stack.processes.commands import PROCESSES


def _become(name: str) -> Callable[..., None]:
    def become(*words: str) -> None:
        given = env.present(env.given())
        if name == "sandbox":
            rules.check(given)
        else:
            env.load()
        argv = PROCESSES[name](given | _listening(words))
        os.execvp(argv[0], argv)  # noqa: S606 (our own words, and a shell would swallow signals)

    return become


def _listening(words: tuple[str, ...]) -> dict[str, str]:
    if not words:
        return {}
    option, *hosts = words
    if option != "--host" or len(hosts) != 1:
        raise StackError(f"{' '.join(words)!r} is not understood: only --host and an address may follow.")
    return {"HOST": hosts[0]}


web = _become("web")
worker = _become("worker")
evidence = _become("evidence")
sandbox = _become("sandbox")
socket = _become("socket")
