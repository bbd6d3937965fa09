"""Who did, saw and changed what, from where: written once, never changed, sealed into a chain.

The bottom of the house: it knows ids, names and words, and nothing of incidents.
"""

from audit.noting import note, once

__all__ = ["note", "once"]
