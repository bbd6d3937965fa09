"""Secrets of second factors, sealed with a key that follows from SECRET_KEY: the database alone does not tell them."""

from __future__ import annotations

import base64
import hashlib
import secrets

from django.conf import settings


def seal(text: str) -> str:
    """Return a text that only `read` understands."""
    from cryptography.fernet import Fernet

    return Fernet(_key()).encrypt(text.encode()).decode()


def read(sealed: str) -> str:
    """Return what was sealed; what another SECRET_KEY sealed is worth nothing, and fits no code."""
    from cryptography.fernet import Fernet, InvalidToken

    try:
        return Fernet(_key()).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return base64.b32encode(secrets.token_bytes(20)).decode()


def _key() -> bytes:
    return base64.urlsafe_b64encode(hashlib.sha256(b"second factors|" + settings.SECRET_KEY.encode()).digest())
