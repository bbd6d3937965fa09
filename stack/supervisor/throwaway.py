"""A whole stack of its own for one test, tour or measurement: temporary folder, free ports, gone at the end."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from stack.processes import ports
from stack.processes.process import Hear
from stack.supervisor import running, surroundings
from stack.supervisor.preloaded import SUPPORTED

# Settings of which nothing that was made ready before can know.
SHOWS_ITSELF = {"DATABASE_URL", "INCIDENT_TYPES_FILE"}
ALL = ("sandbox", "web", "worker", "evidence")


@contextmanager
def throwaway(
    *,
    processes: Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    hear: Hear | None = None,
    preloaded: bool = True,
    pool: int = 0,
) -> Iterator[running.Stack]:
    """Give a fresh stack with the sandbox in Slack's place.

    `processes` are started, or all that the settings ask for; others can be later with
    `stack.start("worker", env={...})`. `env` is laid over the settings of every process. Nothing of the caller's
    settings or `.env` gets in. `hear` gets each line that a process writes. A `pool` of so many connections is held by
    PgBouncer. What is not `preloaded` starts as it does in earnest: each process a program of its own.
    """
    laid = not SHOWS_ITSELF & set(env or {})
    data_dir = Path(tempfile.mkdtemp(prefix="firekind-"))
    web, sandbox = ports.listen_pair()
    settings = surroundings.blank() | surroundings.with_sandbox(data_dir=data_dir, port=ports.number(web))
    settings |= {"WEB_WORKERS": "1", **(env or {})}
    doors = {"web": web, "sandbox": sandbox}
    try:
        with (
            web,
            sandbox,
            running.opened(
                settings,
                data_dir=data_dir,
                doors=doors,
                processes=("sandbox", *surroundings.processes(settings)) if processes is None else processes,
                hear=hear,
                durable=False,
                laid=laid,
                preloaded=preloaded and SUPPORTED,
                pool=pool,
            ) as stack,
        ):
            yield stack
    finally:
        shutil.rmtree(data_dir, ignore_errors=True)
