"""There are fewer connections to the database than threads: whoever waits for something else gives theirs back.

Otherwise those who wait may have all of them between them, while what they wait for needs one too.
"""

from __future__ import annotations

from django.db import connection


def give_back() -> None:
    """Give this thread's connection back to the pool; the next query takes one again. In a transaction it is kept."""
    if not connection.in_atomic_block:
        connection.close()
