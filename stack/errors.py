"""Errors that stop a start, in words for the person who typed the command."""


class StackError(Exception):
    """The stack cannot start or continue; the message is one sentence that says why."""
