"""A complete throwaway stack for one test, tour or measurement: temporary folder, free ports, gone at the end."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from stack.processes import ports
from stack.processes.process import Hear
from stack.supervisor import running, surroundings
from stack.supervisor.preloaded import SUPPORTED

# Settings that nothing prepared earlier can know.
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
    """Yield a fresh stack with the sandbox in Slack's place.

    `processes` are started, by default all that the settings ask for; start others later with `stack.start("worker",
    env={...})`. `env` is overlaid on every process's settings. The caller's settings and `.env` are ignored. `hear`
    gets each line that a process writes. PgBouncer holds a `pool` of that many connections. Without `preloaded`,
    processes start as in production: each as its own program.
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
