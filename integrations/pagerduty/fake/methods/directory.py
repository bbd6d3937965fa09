"""The account's people, teams, services, escalation policies, priorities and abilities."""

from __future__ import annotations

from functools import partial
from typing import Final

from integrations.pagerduty.fake.records import Json, Policy, Priority, Service, Team
from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.answers import ErrorAnswer
from integrations.pagerduty.fake.server.api_request import ApiRequest, found, named
from integrations.pagerduty.fake.state import AccountState


def _abilities(state: AccountState, asked: ApiRequest) -> Json:
    return {"abilities": list(state.account.abilities)}


def _priorities(state: AccountState, asked: ApiRequest) -> Json:
    shape = shapes.of(state)

    def write(priority: Priority) -> Json:
        about = {"name": priority.name, "description": priority.description, "color": priority.colour}
        return {**shape.reference("priority", priority.id, priority.name, type="priority"), **about}

    return asked.page("priorities", state.account.priorities.values(), write)


def _users(state: AccountState, asked: ApiRequest) -> Json:
    people = named(state.account.users.values(), asked.one("query"), lambda user: f"{user.name}\n{user.email}")
    teams = set(asked.all("team_ids"))
    whole = partial(shapes.of(state).user, rules=asked.includes("notification_rules"))
    return asked.page("users", [u for u in people if not teams or teams & set(u.teams)], whole)


def _user(state: AccountState, asked: ApiRequest) -> Json:
    user = found(state.account.users, asked.at["id"])
    return {"user": shapes.of(state).user(user, rules=asked.includes("notification_rules"))}


def _teams(state: AccountState, asked: ApiRequest) -> Json:
    shape = shapes.of(state)

    def write(team: Team) -> Json:
        return {**shape.reference("team", team.id, team.name, type="team"), "name": team.name, "description": None}

    return asked.page("teams", named(state.account.teams.values(), asked.one("query"), lambda t: t.name), write)


def _services(state: AccountState, asked: ApiRequest) -> Json:
    shape, whole = shapes.of(state), asked.includes("integrations")
    some = named(state.account.services.values(), asked.one("query"), lambda s: s.name)
    teams, name = set(asked.all("team_ids")), asked.one("name")
    some = [s for s in some if (not teams or teams & set(s.teams)) and name in ("", s.name)]

    def write(service: Service) -> Json:
        return shape.service(service, whole=whole)

    return asked.page("services", some, write)


def _service(state: AccountState, asked: ApiRequest) -> Json:
    service = found(state.account.services, asked.at["id"])
    return {"service": shapes.of(state).service(service, whole=asked.includes("integrations"))}


def _integration(state: AccountState, asked: ApiRequest) -> Json:
    service = found(state.account.services, asked.at["id"])
    for n, integration in enumerate(service.integrations):
        if integration.id == asked.at["integration_id"]:
            return {"integration": shapes.of(state).integration(service, n)}
    raise ErrorAnswer(2100)


def _policies(state: AccountState, asked: ApiRequest) -> Json:
    some = named(state.account.policies.values(), asked.one("query"), lambda p: p.name)
    users, teams = set(asked.all("user_ids")), set(asked.all("team_ids"))

    def wanted(policy: Policy) -> bool:
        targets = {target for level in policy.levels for target in level.targets}
        return (not users or bool(users & targets)) and (not teams or bool(teams & set(policy.teams)))

    return asked.page("escalation_policies", filter(wanted, some), shapes.of(state).policy)


def _policy(state: AccountState, asked: ApiRequest) -> Json:
    return {"escalation_policy": shapes.of(state).policy(found(state.account.policies, asked.at["id"]))}


METHODS: Final = {
    "GET /abilities": _abilities,
    "GET /priorities": _priorities,
    "GET /users": _users,
    "GET /users/{id}": _user,
    "GET /teams": _teams,
    "GET /services": _services,
    "GET /services/{id}": _service,
    "GET /services/{id}/integrations/{integration_id}": _integration,
    "GET /escalation_policies": _policies,
    "GET /escalation_policies/{id}": _policy,
}
