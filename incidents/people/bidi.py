"""Names and words that are read from right to left, kept in order beside what is read from left to right. Pure.

Without it, what follows an Arabic or Hebrew name in an English sentence (a comma, a bracket, a number, the next name)
is drawn on the wrong side of it. Unicode's isolates (https://www.unicode.org/reports/tr9/) hold in every surface of
ours: HTML, Slack, the terminal.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

FIRST_STRONG, POP = "\u2068", "\u2069"  # begin a piece whose direction is that of its first letter; end it
OPENS: Final = frozenset("\u2066\u2067\u2068")
MAY_TURN: Final = re.compile(  # letters from right to left, and marks and embeddings of direction
    "[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
TURNS: Final = frozenset({"R", "AL", "AN", "RLE", "RLO", "LRE", "LRO", "PDF"})


def isolated(text: str) -> str:
    """Return a piece of a sentence so that it leaves the order of what is around it alone.

    Text from left to right stays as it is, and so does what was isolated before.
    """
    if not MAY_TURN.search(text):
        return text
    lines = text.split("\n")  # an isolate ends where its paragraph does
    return "\n".join(FIRST_STRONG + _closed(line) + POP if _is_open(line) else line for line in lines)


def _is_open(line: str) -> bool:
    """Return whether a line turns anything around it: outside of isolates, or by one that is never closed."""
    depth = 0
    for char in line:
        if char in OPENS:
            depth += 1
        elif char == POP:
            if depth == 0:
                return True
            depth -= 1
        elif depth == 0 and unicodedata.bidirectional(char) in TURNS:
            return True
    return depth > 0


def _closed(line: str) -> str:
    """Return a line with an end for each isolate in it, and without an end that has none."""
    made, depth = [], 0
    for char in line:
        if char == POP and depth == 0:
            continue
        depth += (char in OPENS) - (char == POP)
        made.append(char)
    return "".join(made) + POP * depth


def without(text: str) -> str:
    """Return a text without isolates, for what a vendor is given to keep and is compared with later."""
    return text.translate(dict.fromkeys(map(ord, (*OPENS, POP))))
