"""Tasks and follow-ups: what their events add up to, and which of them somebody may see. `lifecycle` writes them."""
