"""The words of plans and messages, free of any vendor's markup. Pure."""
