"""Tasks and follow-ups: what their events add up to, and who may see them. `lifecycle` writes them."""
