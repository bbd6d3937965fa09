"""Keep right-to-left names and text in order within left-to-right sentences. Pure.

Without it, what follows an Arabic or Hebrew name in an English sentence (a comma, a bracket, a number, the next name)
is drawn on the wrong side of it. Unicode's isolates (https://www.unicode.org/reports/tr9/) work on all our surfaces:
HTML, Slack, the terminal.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

FIRST_STRONG, POP = "\u2068", "\u2069"  # begin a piece that takes the direction of its first letter; end it
OPENS: Final = frozenset("\u2066\u2067\u2068")
MAY_TURN: Final = re.compile(  # right-to-left letters, and direction marks and embeddings
    "[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
TURNS: Final = frozenset({"R", "AL", "AN", "RLE", "RLO", "LRE", "LRO", "PDF"})


def isolated(text: str) -> str:
    """Isolate a piece of a sentence so that it does not reorder the text around it.

    Left-to-right text stays as it is, and so does text that is already isolated.
    """
    if not MAY_TURN.search(text):
        return text
    lines = text.split("\n")  # an isolate ends with its paragraph
    return "\n".join(FIRST_STRONG + _closed(line) + POP if _is_open(line) else line for line in lines)


def _is_open(line: str) -> bool:
    """Return whether a line changes the order around it, outside isolates or by one that is never closed."""
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
    """Return a line with each isolate in it closed, and without closing marks that have none."""
    made, depth = [], 0
    for char in line:
        if char == POP and depth == 0:
            continue
        depth += (char in OPENS) - (char == POP)
        made.append(char)
    return "".join(made) + POP * depth


def without(text: str) -> str:
    """Return a text without isolates, for what a vendor stores and is compared with later."""
    return text.translate(dict.fromkeys(map(ord, (*OPENS, POP))))
