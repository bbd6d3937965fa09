"""The audit log: who did, saw and changed what, from where. Written once, never changed, sealed into a chain.

The lowest layer: it knows ids, names and words, and nothing about incidents.
"""

from audit.noting import note, once

__all__ = ["note", "once"]
