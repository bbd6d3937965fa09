"""The operator's list of people's emails and their accounts in the tracker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Accounts:
    """Pairs of emails and accounts; makes no requests."""

    def __init__(self, people: Mapping[str, str]) -> None:
        self._accounts = {email.casefold(): account for email, account in people.items()}
        self._emails = {account.casefold(): email for email, account in people.items()}

    def account(self, email: str) -> str:
        """Return a person's account, or an empty string."""
        return self._accounts.get(email.casefold(), "")

    def email(self, account: str) -> str:
        """Return the email of an account's owner, or an empty string."""
        return self._emails.get(account.casefold(), "")

    def known(self, accounts: Iterable[str]) -> str:
        """Return the first of these accounts that belongs to a known person, or an empty string."""
        emails = (self.email(one) for one in accounts)
        return next((self.account(email) for email in emails if email), "")
