"""`make tour`: the stories on a throw-away stack, checked from outside: each scene of the short one, each review."""

from stack.tour.touring import main

__all__ = ["main"]
