"""What a page says after a redirect, kept in a cookie named like the others; Django's name cannot be set."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class MessageCookie(CookieStorage):
    """Messages in a cookie of this host alone."""

    cookie_name = f"{settings.COOKIE_PREFIX}messages"


class Messages(FallbackStorage):
    """Messages in the cookie, and in the session what does not fit."""

    storage_classes = (MessageCookie, SessionStorage)
