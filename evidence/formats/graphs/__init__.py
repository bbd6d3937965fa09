"""Profiles that keep which function calls which, and no stacks: cProfile, callgrind."""
