"""`make mutate`: change the code in small ways, one at a time, and count the changes that the tests notice."""

from stack.mutation.scoring import main

__all__ = ["main"]
