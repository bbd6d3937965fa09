"""`make fuzz`: hand the readers of evidence what nobody would write, for a while, and see that they refuse it well.

The readers run in a process of their own, with bounded memory and time. Only ``Unreadable`` may come of an input, or
a profile that keeps the laws. What breaks that is kept in ``fixtures/fuzz/<format>/found-…`` and read again by every
run of the tests.
"""

from stack.fuzzing.supervising import main

__all__ = ["main"]
