"""Block Kit as a table: what each block may contain, and how long. Unknown keys and wrong nesting are problems too."""

from __future__ import annotations

from .surfaces import MAX_ATTACHMENTS, block_problems, is_too_large, message_problems, view_problems, weight

__all__ = ["MAX_ATTACHMENTS", "block_problems", "is_too_large", "message_problems", "view_problems", "weight"]
