"""Live pages: streams that say that something changed, and who may keep reading them."""
