"""The stand-in PagerDuty through its control door: people act, and everything can be inspected."""

from __future__ import annotations

from typing import Any

from stack.outside.control import Json, ask, lift_fault, order_fault

DOOR = "/sandbox/pagerduty"


class SandboxAccount:
    """The account of one sandbox. People are named by handle, incidents by id or number, other things by name or id."""

    def __init__(self, sandbox_url: str) -> None:
        self.url = sandbox_url

    def act(self, act: str, /, **body: Any) -> Json:
        """Do what a person does (acknowledge, resolve, note, …), or what happens to the account (trigger, storm, …)."""
        return self._ask(f"act/{act}", body)

    def state(self) -> Json:
        """Return the whole account; ``on_call`` says who is on each schedule now."""
        return self._ask("state")

    def incidents(self, *, about: str = "") -> list[Json]:
        """List the incidents, oldest first; optionally those with a word in the title."""
        return [one for one in self.state()["incidents"].values() if about in one["title"]]

    def on_call(self, schedule: str) -> list[str]:
        """Return the email addresses of those on a schedule now, by its name."""
        state = self.state()
        id = next(one["id"] for one in state["schedules"].values() if schedule in (one["id"], one["name"]))
        return [state["users"][user]["email"] for user in state["on_call"][id]]

    def rang(self, **whom: Any) -> list[Json]:
        """List who was notified of what, oldest first; optionally for one ``user`` or one ``incident``."""
        rang: list[Json] = self._ask("rang", **whom)["rang"]
        return rang

    def calls(self, *, since: int = 0, request: str = "") -> list[Json]:
        """List the app's requests after the first `since`; optionally of one kind (``POST /incidents``)."""
        calls: list[Json] = self._ask("calls", since=since, request=request)["calls"]
        return calls

    def called(self) -> int:
        """Count the app's requests so far."""
        return int(self._ask("calls", since=1 << 40)["next"])

    def deliveries(self, *, since: int = 0) -> list[Json]:
        """List the attempts to notify the app, with their verdicts."""
        deliveries: list[Json] = self._ask("deliveries", since=since)["deliveries"]
        return deliveries

    def wait_idle(self, *, hurry: bool = False) -> int:
        """Wait until the app was notified of everything that happened.

        Return how many deliveries wait for a retry; with `hurry` these are retried now.
        """
        return int(self._ask(f"idle{'?hurry=1' if hurry else ''}")["left"])

    def fault(self, kind: str, *, path: str = "*", method: str = "*", **how: Any) -> int:
        """Set a fault and return its number."""
        return order_fault(f"{self.url}{DOOR}", kind=kind, path=path, method=method, **how)

    def lift(self, fault: int) -> None:
        """Lift one fault."""
        lift_fault(f"{self.url}{DOOR}", fault)

    def no_faults(self) -> None:
        """Lift all faults."""
        ask(f"{self.url}{DOOR}/faults", method="DELETE")

    def _ask(self, what: str, body: Json | None = None, **query: Any) -> Json:
        return ask(f"{self.url}{DOOR}/{what}", body, **query)
