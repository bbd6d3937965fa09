"""Parameter sweeps: read, stored and drawn as heat maps. Pure."""
