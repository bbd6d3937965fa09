"""What can stop a start, in words for whoever typed the command."""


class StackError(Exception):
    """The stack cannot start or go on; the message is one sentence that says why."""
