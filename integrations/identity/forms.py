"""Forms for people who are partly or fully signed in, each with a limit on guessing."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import ReauthenticateForm
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as CodeForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm
from django import forms

from integrations.identity import tries
from integrations.identity.noted import note


def _take(counted: dict[tries.TryLimit, str]) -> None:
    if seconds := tries.take(counted):
        raise forms.ValidationError(f"Too many attempts. Try again in {tries.wait(seconds)}.", code="paused")


def _code(form: Any) -> str:
    """Check a typed code, within the limit on tries, and accept each code only once."""
    who = str(form.user.pk)
    _take({tries.CODE: who})
    try:
        code: str = form.checked()
    except forms.ValidationError:
        note("sign-in-failed", form.user, why="code")
        raise
    _use_up(who, code)
    tries.clear({tries.CODE: who})
    return code


def _use_up(who: str, code: str) -> None:
    """Refuse a used code however it is written: someone who read it over a shoulder could add a dash to it."""
    if tries.take({tries.REUSE: f"{who}|{normalize_user_code(code)}"}):
        raise forms.ValidationError("That code was already used. Wait for the next one.", code="used")


class ActivateAppForm(ActivateTOTPForm):  # type: ignore[misc]  # allauth brings no types
    """The first code of an authenticator app. It proves that the app is set up, but does not sign anyone in."""

    def clean_code(self) -> str:
        """Return the code if it is right, and mark it as used."""
        code = str(super().clean_code())
        _use_up(str(self.user.pk), code)
        return code


class SignInCodeForm(AuthenticateForm):  # type: ignore[misc]  # allauth brings no types
    """A code of the authenticator app, or a recovery code, at sign-in."""

    def clean_code(self) -> str:
        """Return the code if it is right."""
        return _code(self)

    def checked(self) -> str:
        """Return the code if it is right, without counting the try."""
        return str(super().clean_code())


class CodeAgainForm(CodeForm):  # type: ignore[misc]  # allauth brings no types
    """The same code, to confirm that it is still the same person."""

    def clean_code(self) -> str:
        """Return the code if it is right."""
        return _code(self)

    def checked(self) -> str:
        """Return the code if it is right, without counting the try."""
        return str(super().clean_code())


class Key(AuthenticateWebAuthnForm):  # type: ignore[misc]  # allauth brings no types
    """A passkey's signature."""

    def clean_credential(self) -> Any:
        """Return the passkey that signed, within the limit on tries."""
        _take({tries.CODE: f"key|{self.user.pk}"})
        try:
            passkey = super().clean_credential()
        except forms.ValidationError:
            note("sign-in-failed", self.user, why="passkey")
            raise
        tries.clear({tries.CODE: f"key|{self.user.pk}"})
        return passkey


class PasswordForm(ReauthenticateForm):  # type: ignore[misc]  # allauth brings no types
    """The password, to confirm that it is still the same person."""

    def clean_password(self) -> str:
        """Return the password if it is right."""
        _take({tries.AGAIN: str(self.user.pk)})
        password = str(super().clean_password())
        tries.clear({tries.AGAIN: str(self.user.pk)})
        return password
