"""The stand-in Slack through its control door: people act, and everything can be inspected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stack.errors import StackError
from stack.outside.control import Json, ask, lift_fault, order_fault


class SandboxWorkspace:
    """One sandbox. People are named by handle, channels by name or id."""

    def __init__(self, url: str) -> None:
        self.url = url

    def command(self, user: str, channel: str, text: str) -> Json:
        """Type a slash command and return the app's response. Raises StackError if Slack would show an error."""
        return self._acknowledged(f"{user} typed {text!r}", "command", user=user, channel=channel, text=text)

    def press(self, user: str, action_id: str, **where: Any) -> Json:
        """Press a button, or choose in a field of an open modal."""
        return self._acknowledged(f"{user} pressed {action_id}", "press", user=user, action_id=action_id, **where)

    def submit(self, user: str, values: Mapping[str, Any] | None = None) -> Json:
        """Confirm the modal on someone's screen."""
        return self._acknowledged(f"{user} confirmed", "submit", user=user, values=dict(values or {}))

    def act(self, act: str, /, **body: Any) -> Json:
        """Do anything else that a person does: message, react, join, leave, …"""
        return self._ask(f"/sandbox/{act}", body)

    def channel(self, name: str) -> Json:
        """Return one channel."""
        return self._ask("/sandbox/state", channel=name)

    def state(self) -> Json:
        """Return the whole workspace."""
        return self._ask("/sandbox/state")

    def calls(self, *, since: int = 0) -> list[Json]:
        """List the app's calls after the first `since`."""
        calls: list[Json] = self._ask("/sandbox/calls", since=since)["calls"]
        return calls

    def called(self) -> int:
        """Count the app's calls so far."""
        return int(self._ask("/sandbox/calls", since=1 << 40)["next"])

    def wait_idle(self, *, hurry: bool = False) -> int:
        """Wait until the app was notified of everything that people did.

        Return how many deliveries wait for a retry; with `hurry` these are retried now.
        """
        return int(self._ask(f"/sandbox/idle{'?hurry=1' if hurry else ''}")["left"])

    def fault(self, kind: str, *, method: str = "*", **how: Any) -> int:
        """Set a fault and return its number."""
        return order_fault(f"{self.url}/sandbox", kind=kind, method=method, **how)

    def lift(self, fault: int) -> None:
        """Lift one fault."""
        lift_fault(f"{self.url}/sandbox", fault)

    def no_faults(self) -> None:
        """Lift all faults."""
        self._ask("/sandbox/faults", method="DELETE")

    def truth(self) -> dict[str, float]:
        """Return how the profiled service really divided its time when it was last profiled, by function."""
        shares: dict[str, float] = self._ask("/checkout-api/truth")["shares"]
        return shares

    def handles(self, ids: Sequence[str]) -> set[str]:
        """Return people's handles."""
        return {one["handle"] for one in self.state()["people"] if one["id"] in set(ids)}

    def _acknowledged(self, what: str, act: str, **body: Any) -> Json:
        answer = self._ask(f"/sandbox/{act}", body)
        if not answer.get("ok"):
            raise StackError(f"After {what}, Slack would show: {answer.get('error') or answer.get('errors')}.")
        return answer

    def _ask(self, path: str, body: Json | None = None, *, method: str | None = None, **query: Any) -> Json:
        return ask(f"{self.url}{path}", body, method=method, **query)
