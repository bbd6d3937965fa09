"""Whether a stream from one web host reports what was done at another, and how soon."""

from __future__ import annotations

from contextlib import closing
from time import monotonic
from typing import Final

from stack.chaos.acting import LINK
from stack.errors import StackError
from stack.machines.fleet import Fleet
from stack.outside import Records, SandboxWorkspace, Visitor, until
from stack.outside.readers import HEARD, reading

WHO: Final = "Ada Okafor"
TIMES: Final = 5
PATIENCE_S: Final = 20


def declared(fleet: Fleet) -> str:
    """Declare an incident for it in Slack, once anyone is known, and return its codename."""
    with closing(Records(fleet.first.database_url)) as records:
        until(records.knows_people, what="nobody is known", timeout_s=120)
    said = SandboxWorkspace(fleet.first.sandbox_url).command("ada", "general", "/incident declare internal: two hosts")
    found = LINK.search(str((said.get("response") or {}).get("text") or ""))
    if found is None:
        raise StackError(f"An incident could not be declared: {said}")
    with closing(Records(fleet.first.database_url)) as records:
        until(lambda: records.settled(found[1]), what=f"{found[1]} is not settled", timeout_s=120)
    return found[1]


def delays(fleet: Fleet, codename: str) -> list[float]:
    """Write notes at either host; return after how many seconds a stream of the other reported each."""
    hosts = [fleet.machines[name].base_url for name in ("a", "b")]
    return [*_heard(fleet, codename, *hosts), *_heard(fleet, codename, *reversed(hosts))]


def _heard(fleet: Fleet, codename: str, here: str, there: str) -> list[float]:
    found: list[float] = []
    with closing(Visitor(here).sign_in_as(WHO)) as writer, closing(Visitor(there).sign_in_as(WHO)) as reader:
        path = f"/incidents/{codename}/"
        with (
            reading(there, f"{path}stream", cookies=[reader.cookie], count=1) as stream,
            closing(Records(fleet.first.database_url)) as records,
        ):
            stream.wait(HEARD, patience_s=PATIENCE_S)
            for n in range(TIMES):
                after = records.incident(codename)["last_n"]
                began = monotonic()
                writer.fill(path, {"text": f"note {n} at one host"}, to=f"{path}note")
                try:
                    found.append(stream.wait(b"data: %d" % (after + 1), patience_s=PATIENCE_S) - began)
                except (TimeoutError, ConnectionError) as error:
                    raise StackError(f"A stream of {there} did not hear what was done at {here}: {error}") from None
    return found
