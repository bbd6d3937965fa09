"""One whole stack for the tests that act on it, kill its processes and take its broker away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import pytest

from config import env
from stack.outside import Records, until
from stack.processes.process import Hear
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import ALL, throwaway

PATIENCE_S = 180  # a busy machine
# A task long enough to be seen, and one that outlasts the renewal of a claim.
BRIEF_S, LONG_S = 1, 4
LONG = """
  - name: payments-api
    type: pprof
    url: ${FIREKIND_PROFILED_URL}/debug/pprof
    internal: true
    kinds: [cpu]
    seconds: %d
    services: [payments]
    on: [declare]
"""


@dataclass(frozen=True, slots=True)
class Shared:
    """The stack, and the listeners to its processes' output."""

    stack: Stack
    hearing: list[Hear] = field(default_factory=list)


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Yield the stack, with its people and on-call known; modules use `stack`, which waits until it is at rest."""
    folder = tmp_path_factory.mktemp("shared")
    sources = folder / "sources.yaml"
    listed = (env.ROOT / "fixtures/sandbox_sources.yaml").read_text().replace("seconds: 5", f"seconds: {BRIEF_S}")
    sources.write_text(listed + LONG % LONG_S)
    hearing: list[Hear] = []

    def hear(process: str, line: str) -> None:
        for one in hearing:
            one(process, line)

    with throwaway(env={"PROFILE_SOURCES_FILE": str(sources)}, hear=hear) as stack:
        with closing(Records(stack.database_url)) as records:
            until(records.knows_people, what="nobody is known", timeout_s=PATIENCE_S)
            until(records.knows_on_call, what="nobody is known to be on call", timeout_s=PATIENCE_S)
        yield Shared(stack, hearing)


@pytest.fixture(scope="module")
def stack(shared: Shared) -> Stack:
    """Return the shared stack with every process running and nothing owed, however the previous module left it."""
    stack = shared.stack
    stack.start(*[name for name in ALL if not stack.processes[name].alive])
    with closing(Records(stack.database_url)) as records:
        until(records.settled, what="what an earlier module left", timeout_s=PATIENCE_S)
    return stack
