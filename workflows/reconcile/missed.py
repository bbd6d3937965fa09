"""Tell managers directly about attempts to break glass on incidents that do not exist."""

from __future__ import annotations

import logging
from datetime import datetime
from functools import partial

from django.conf import settings

from incidents.claiming import apart
from incidents.lifecycle import misses
from incidents.models import Miss
from incidents.models.page_routes import ROLES, path_of
from incidents.models.people import Role
from incidents.people import roles
from workflows import ports
from workflows.chat_port import Chat
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

log = logging.getLogger(__name__)


def tell_managers(*, at: datetime) -> int:
    """Send each manager a message about each miss that they were not told of; return how many misses there were.

    No transaction is open while the chat is called. A message that it does not accept now is retried a minute later.
    """
    chat = ports.chat()
    if chat is None:
        return 0  # managers see it on the page of roles
    return apart.each(misses.untold(at=at), partial(_told, chat), what="misses")


def _told(chat: Chat, miss: Miss) -> bool:
    later = False
    for manager in roles.holders(Role.MANAGER).exclude(chat_id=None).exclude(pk__in=miss.told):
        try:
            chat.tell(str(manager.chat_id), _card(miss), mark=f"miss/{miss.pk}/{manager.pk}")
            misses.told(miss, manager)
        except VendorError as error:
            log.warning("could not tell manager %s of miss %s: %s", manager.pk, miss.pk, error)
            later = later or error.retryable
    if not later:
        misses.over(miss)
    return not later


def _card(miss: Miss) -> Card:
    return Card(
        kind="missed",
        title="Break glass attempt that found nothing",
        text=f"{miss.person.name} {misses.sentence(miss)}",
        link=f"{settings.FIREKIND.base_url}{path_of(ROLES)}",
        link_label="See all attempts",
        context=(f"After {misses.MOST} in an hour, a person has to wait.",),
    )
