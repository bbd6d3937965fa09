"""Changes that could let people into private incidents, which a second manager confirms."""
