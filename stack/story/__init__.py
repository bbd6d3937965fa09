"""The story that `make demo` plays and `make tour` checks."""

from stack.story.playing import play

__all__ = ["play"]
