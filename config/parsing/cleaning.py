"""Strip what files, shells and secret stores add to a value: spaces, line ends and quotes.

A Kubernetes secret made with `echo` ends in a line end, and `docker --env-file` keeps quotes, which `.env` drops.
Invisible characters, such as those that pages put between letters that people copy, are refused with the setting's
name.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Final

from config.parsing.values import SettingError

# Left unchanged: keys that encrypt and sign must not change because they are parsed differently.
AS_IT_IS: Final = frozenset({"SECRET_KEY"})
UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def cleaned(given: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return everything that was set, with the values of these names cleaned. Raises SettingError."""
    ours = {name: seen(name, unquoted(given[name]).strip()) for name in names if name in given and name not in AS_IT_IS}
    return {**given, **ours}


def unquoted(value: str) -> str:
    """Return a value without surrounding spaces and one pair of quotes."""
    return re.sub(r"""^(['"])(.*)\1$""", r"\2", value.strip())


def seen(name: str, value: str) -> str:
    """Return a value if it has no invisible characters. Raises SettingError."""
    if any(unicodedata.category(one) in UNSEEN for one in value):
        raise SettingError(f"{name} has a character in it that cannot be seen: type it by hand, or copy it again.")
    return value
