"""Find the account of a person a provider vouches for: by the provider's id, and the first time by verified email.

Only someone known to the workspace or to the operator gets an account.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from incidents.models import Person
from incidents.people import emails, person_matching
from integrations.identity.noted import note
from integrations.identity.providers.provider import Provider
from workflows import ports
from workflows.ports import VendorError

SLACK_USER, SLACK_TEAM = "https://slack.com/user_id", "https://slack.com/team_id"


class SignInRefused(Exception):
    """Someone may not sign in; the message is for them and says what to do."""


def user_of(provider: Provider, claims: Mapping[str, Any]) -> User:
    """Return the account of the person a provider describes, and link it the first time.

    Raises ``SignInRefused`` with words for them.
    """
    _same_workspace(provider, claims)  # before anything is locked, because this may ask Slack
    return _user_of(provider, claims)


@transaction.atomic
def _user_of(provider: Provider, claims: Mapping[str, Any]) -> User:
    uid = str(claims["sub"])
    pinned = SocialAccount.objects.filter(provider=provider.key, uid=uid).select_related("user__person").first()
    user: User = pinned.user if pinned is not None else _joined(provider, uid, claims)
    if person_matching.of_user(user) is None:
        raise SignInRefused(
            "This account has been deactivated. If that is a mistake, ask the person who runs Firekind."
        )
    return user


def _joined(provider: Provider, uid: str, claims: Mapping[str, Any]) -> User:
    email = str(claims.get("email") or "").strip()
    if not email or str(claims.get("email_verified", provider.vouches)).lower() != "true":
        raise SignInRefused(
            f"{provider.name} has not verified your email address, which Firekind needs to find you the first time."
            f" Verify it at {provider.name}, then sign in again."
        )
    if not emails.key_of(email):
        raise SignInRefused(
            f"The email address {email} has characters beyond plain ASCII, which can look like someone else's. Ask the"
            " person who runs Firekind for an account."
        )
    person = _known(email)
    if person is None:
        raise SignInRefused(
            f"No one with the email address {email} is known here. Join the team's Slack workspace with that address"
            " and try again a minute later, or ask the person who runs Firekind for an account."
        )
    user = _account(person, provider, uid)
    if _moved(person, provider, claims):
        SocialAccount.objects.filter(user=user, provider=provider.key).delete()
    _only_one(user, provider)
    _same_person(person, claims)
    SocialAccount.objects.create(user=user, provider=provider.key, uid=uid, extra_data={})
    note("account", user, joined=provider.name)
    return user


def _known(email: str) -> Person | None:
    """Return the member of the workspace, or person with an account made by the operator, who has this email."""
    person = person_matching.by_email(email)
    if person is None:
        made = emails.having(User.objects.filter(is_active=True), email)
        person = person_matching.of_user(made[0]) if made else None
    if person is None or not person.can_join:
        return None
    # Without a join: it would miss an account that another sign-in linked while this one waited for the lock.
    return Person.objects.select_for_update(no_key=True).get(pk=person.pk)


def _account(person: Person, provider: Provider, uid: str) -> User:
    if person.user is None:
        user = User(username=f"{provider.key}:{uid}"[:150], first_name=person.name[:150], email=person.email)
        user.set_unusable_password()
        user.save()
        person.user = user
        person.save(update_fields=["user"])
    return person.user


def _moved(person: Person, provider: Provider, claims: Mapping[str, Any]) -> bool:
    """Return whether this person has the claimed id in the workspace now, as they do once it was replaced."""
    return provider.key == "slack" and claims.get(SLACK_USER) is not None and claims[SLACK_USER] == person.chat_id


def _only_one(user: User, provider: Provider) -> None:
    """Refuse a second identity with the same address, because addresses are later reassigned to other people."""
    if SocialAccount.objects.filter(user=user, provider=provider.key).exists():
        raise SignInRefused(
            f"Someone else already signs in with this email address from {provider.name}. If that was an earlier"
            " account of yours, ask the person who runs Firekind to unlink it."
        )


def _same_workspace(provider: Provider, claims: Mapping[str, Any]) -> None:
    """Refuse a person from another Slack workspace than the app's own, which the settings name or Slack tells us."""
    if provider.key == "slack" and claims.get(SLACK_TEAM) != _own_workspace():
        raise SignInRefused("That is a different Slack workspace. Choose your team's when Slack asks.")


def _own_workspace() -> str:
    slack, chat = settings.FIREKIND.slack, ports.chat()
    if slack is not None and slack.team_id:
        return slack.team_id
    try:
        ours = chat.workspace_id if chat is not None else ""
    except VendorError:
        raise SignInRefused("Slack isn't responding, so your workspace can't be checked. Try again later.") from None
    if not ours:
        raise SignInRefused(
            "Firekind isn't connected to a Slack workspace, so it can't tell whether yours is the right one. Ask the"
            " person who runs Firekind to set SLACK_BOT_TOKEN."
        )
    return ours


def _same_person(person: Person, claims: Mapping[str, Any]) -> None:
    """Refuse a member of Slack whose address belongs to another member in our workspace."""
    said = claims.get(SLACK_USER)
    if said and person.chat_id and said != person.chat_id:
        raise SignInRefused(
            "Slack has another member with this email address. Ask the person who runs Firekind to look into it."
        )
