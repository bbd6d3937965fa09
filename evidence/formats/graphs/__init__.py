"""Profiles that store which function calls which, but no stacks: cProfile, callgrind."""
