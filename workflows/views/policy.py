"""What an edited policy would mean for open incidents."""

from __future__ import annotations

from incidents.views.types import listing as preview

__all__ = ["preview"]
