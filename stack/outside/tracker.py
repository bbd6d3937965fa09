"""The stand-in issue tracker through its control door: people act, and every ticket can be inspected."""

from __future__ import annotations

from typing import Any

from stack.outside.control import Json, ask, lift_fault, order_fault

DOOR = "/sandbox/tracker"


class SandboxTracker:
    """The tracker of one sandbox. Tickets are named by project and number."""

    def __init__(self, sandbox_url: str) -> None:
        self.url = sandbox_url

    def act(self, act: str, /, **body: Any) -> Json:
        """Do what someone does to a ticket: move, assign, rename, delete."""
        return ask(f"{self.url}{DOOR}/act/{act}", body)

    def tickets(self) -> list[Json]:
        """List all tickets, in the order in which they were opened; deleted ones are marked."""
        found: list[Json] = ask(f"{self.url}{DOOR}/state")["tickets"]
        return found

    def wait_idle(self) -> None:
        """Wait until no webhook is under way."""
        ask(f"{self.url}{DOOR}/idle")

    def fault(self, kind: str, *, method: str = "*", **how: Any) -> int:
        """Set a fault (down, lost, refused, limited or latency) and return its number."""
        return order_fault(f"{self.url}{DOOR}", kind=kind, method=method, **how)

    def lift(self, fault: int) -> None:
        """Lift one fault."""
        lift_fault(f"{self.url}{DOOR}", fault)

    def no_faults(self) -> None:
        """Lift all faults."""
        ask(f"{self.url}{DOOR}/faults", method="DELETE")
