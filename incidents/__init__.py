"""The domain: what an incident is, what may happen to it, who may see it, and what is said about it."""
