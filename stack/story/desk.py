"""What people use besides Slack: a terminal with a token for the API, and the pages."""

from __future__ import annotations

from dataclasses import dataclass, field

from stack.errors import StackError
from stack.outside import Api, SandboxWorkspace, Visitor
from stack.supervisor import surroundings
from stack.supervisor.running import Stack


@dataclass(slots=True)
class StoryDesk:
    """The desks of everyone in the workspace; each person signs in and gets a token when first needed."""

    stack: Stack
    workspace: SandboxWorkspace
    _apis: dict[str, Api] = field(default_factory=dict)
    _visitors: dict[str, Visitor] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The URL that people open."""
        return surroundings.address(self.stack.env)

    def api(self, who: str) -> Api:
        """Return the API as this person uses it, with a token created in the terminal."""
        if who not in self._apis:
            words = ("evidence_token", self._person(who)["email"], "--name", "the stories")
            made = self.stack.manage(*words, check=False)
            if made.returncode:
                raise StackError(f"No token for {who}: {made.stderr.strip()}")
            self._apis[who] = Api(self.stack.base_url, made.stdout.split()[-1])
        return self._apis[who]

    def visitor(self, who: str) -> Visitor:
        """Return the pages as this person sees them."""
        if who not in self._visitors:
            self._visitors[who] = Visitor(self.stack.base_url).sign_in_as(self._person(who)["name"])
        return self._visitors[who]

    def close(self) -> None:
        """Close everyone's connections."""
        for visitor in self._visitors.values():
            visitor.close()

    def _person(self, who: str) -> dict[str, str]:
        people: list[dict[str, str]] = self.workspace.state()["people"]
        return next(one for one in people if one["handle"] == who)
