"""How settings are read and what may not be set together, a module a topic."""
