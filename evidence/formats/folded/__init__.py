"""Folded stacks, one a line."""
