"""Email instead of a direct message that the chat does not accept, if a mail server is configured."""

from __future__ import annotations

import logging
import smtplib

from django.conf import settings
from django.core.mail import EmailMessage

from incidents import visibility
from incidents.models import Incident, Person
from incidents.outages import spare_connections
from workflows.planning.wording import marks
from workflows.planning.wording.card import Card

log = logging.getLogger(__name__)


def send(card: Card, *, chat_id: str, incident: Incident) -> bool:
    """Email a card to someone in the chat; return whether a server accepted it.

    Nothing is sent to people who may not, or no longer, see the incident, nor to guests, whose address proves nothing.
    """
    person = Person.objects.filter(chat_id=chat_id).exclude(email="").first()
    if settings.FIREKIND.mail is None or person is None or not person.can_join:
        return False
    if not visibility.may_see(person, incident):
        return False
    text = "\n\n".join(filter(None, [marks.bare(card.text), *map(marks.bare, card.context), card.link]))
    spare_connections.give_back()
    try:
        return bool(EmailMessage(subject=card.title, body=f"{text}\n", to=[person.email]).send())
    except (OSError, smtplib.SMTPException) as error:
        log.warning("could not send an email: %s", type(error).__name__)
        return False
