"""`make tour`: the story on a throw-away stack, checked from the outside after every scene."""

from stack.tour.touring import main

__all__ = ["main"]
