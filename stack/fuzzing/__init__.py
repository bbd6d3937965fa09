"""`make fuzz`: give the evidence readers malformed inputs for a while, and check that they reject them properly.

The readers run in a separate process, with bounded memory and time. An input may only result in ``Unreadable``, or in a
profile that keeps the laws. Inputs that break this are kept in ``fixtures/fuzz/<format>/found-…`` and read again in
every test run.
"""

from stack.fuzzing.supervising import main

__all__ = ["main"]
