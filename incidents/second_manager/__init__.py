"""Changes that could let people into private incidents, and that a second manager confirms."""
