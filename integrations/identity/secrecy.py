"""Encrypt second-factor secrets with a key derived from SECRET_KEY, so the database alone does not reveal them."""

from __future__ import annotations

import base64
import hashlib
import secrets

from django.conf import settings


def seal(text: str) -> str:
    """Return a text encrypted so that only `read` can decrypt it."""
    from cryptography.fernet import Fernet

    return Fernet(_key()).encrypt(text.encode()).decode()


def read(sealed: str) -> str:
    """Return the decrypted text. Text sealed under another SECRET_KEY gives a value that matches no code."""
    from cryptography.fernet import Fernet, InvalidToken

    try:
        return Fernet(_key()).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return base64.b32encode(secrets.token_bytes(20)).decode()


def _key() -> bytes:
    return base64.urlsafe_b64encode(hashlib.sha256(b"second factors|" + settings.SECRET_KEY.encode()).digest())
