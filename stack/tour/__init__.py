"""`make tour`: the stories on a throwaway stack, checked from outside: each scene of the short one, each review."""

from stack.tour.touring import main

__all__ = ["main"]
