"""Folded stacks, one per line."""
