"""Who is who in a tracker: the operator's list of emails and accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Accounts:
    """Emails and accounts, one for each other; asks nobody."""

    def __init__(self, people: Mapping[str, str]) -> None:
        self._accounts = {email.casefold(): account for email, account in people.items()}
        self._emails = {account.casefold(): email for email, account in people.items()}

    def account(self, email: str) -> str:
        """Return someone's account, or nothing."""
        return self._accounts.get(email.casefold(), "")

    def email(self, account: str) -> str:
        """Return the email of an account's owner, or nothing."""
        return self._emails.get(account.casefold(), "")

    def known(self, accounts: Iterable[str]) -> str:
        """Return the first of these accounts that is someone known here, or nothing."""
        emails = (self.email(one) for one in accounts)
        return next((self.account(email) for email in emails if email), "")
