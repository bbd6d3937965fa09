"""What comes with a value and is none of it: spaces, line ends and quotes, left by files, shells and secret stores.

A secret of Kubernetes that was made with `echo` ends in a line end, and `docker --env-file` keeps quotes, which `.env`
drops. What cannot be seen, such as what pages put between the letters that people copy, is refused by name.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Final

from config.parsing.values import SettingError

# A key is what it is: what encrypts and signs must not change because it is read another way.
AS_IT_IS: Final = frozenset({"SECRET_KEY"})
UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def cleaned(given: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return what is given, and of these names the values alone. Raises SettingError."""
    ours = {name: seen(name, unquoted(given[name]).strip()) for name in names if name in given and name not in AS_IT_IS}
    return {**given, **ours}


def unquoted(value: str) -> str:
    """Return a value without the spaces and the one pair of quotes around it."""
    return re.sub(r"""^(['"])(.*)\1$""", r"\2", value.strip())


def seen(name: str, value: str) -> str:
    """Return a value that people can see all of. Raises SettingError."""
    if any(unicodedata.category(one) in UNSEEN for one in value):
        raise SettingError(f"{name} has a character in it that cannot be seen: type it by hand, or copy it again.")
    return value
