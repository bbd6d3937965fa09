"""The stories that `make demo` plays; `make tour` checks the short one."""

from stack.story.choosing import asked
from stack.story.playing import play

__all__ = ["asked", "play"]
