"""Live pages: streams that say that something changed, and who may go on reading them."""
