"""speedscope's own JSON."""
