"""Messages shown after a redirect, in a cookie with our prefix; Django has no setting for its name."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class MessageCookie(CookieStorage):
    """Messages in a cookie of this host only."""

    cookie_name = f"{settings.COOKIE_PREFIX}messages"


class Messages(FallbackStorage):
    """Messages in the cookie; those that do not fit are in the session."""

    storage_classes = (MessageCookie, SessionStorage)
