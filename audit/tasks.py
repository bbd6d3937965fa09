"""The audit's Celery tasks: seal what is new, and publish the newest hash, regularly."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from audit.sealed import heads, sealing


@shared_task
def seal() -> None:
    """Seal what was written since the last time; two at once do no harm."""
    sealing.seal(at=sealing.now())


@shared_task
def publish() -> None:
    """Publish the chain's newest hash elsewhere."""
    heads.publish(at=sealing.now(), webhook=settings.FIREKIND.audit_webhook)
