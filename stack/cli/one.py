"""Run one kind of process in place of this one, for a Procfile or a container: settings are checked first.

`--host 0.0.0.0` listens on every address of a container whose ports are published only on the loopback: the container
then decides what is reachable, so this is not a setting.
"""

import os
from collections.abc import Callable, Mapping
from typing import Final

from config import env
from config.parsing import sandbox as rules
from stack.errors import StackError
from stack.processes import ports
from stack.processes.commands import PROCESSES

SERVING: Final = {"web": 0, "sandbox": 1}  # each one's offset from the first port


def _become(name: str) -> Callable[..., None]:
    def become(*words: str) -> None:
        given = env.present(env.given())
        if name == "sandbox":
            rules.check(given)
        else:
            env.load()
        listening = given | _listening(words)
        if name in SERVING:  # its own server would exit with its own message
            _require_free(name, listening)
        argv = PROCESSES[name](listening)
        os.execvp(argv[0], argv)  # noqa: S606 (our own words, and a shell would swallow signals)

    return become


def _require_free(name: str, given: Mapping[str, str]) -> None:
    """Raise StackError if nothing can listen on a process's address."""
    port, host = env.port(given) + SERVING[name], given.get("HOST", ports.LOOPBACK)
    ports.listen(port, host=host, what=f"the {name}", advice="set PORT to another").close()


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
