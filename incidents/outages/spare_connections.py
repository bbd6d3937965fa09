"""Release database connections while waiting for something else, because there are fewer of them than threads.

Otherwise the waiting threads might hold all of them, while what they wait for needs one too.
"""

from __future__ import annotations

from django.db import connection


def give_back() -> None:
    """Give this thread's connection back to the pool; the next query takes one again. In a transaction it is kept."""
    if not connection.in_atomic_block:
        connection.close()
