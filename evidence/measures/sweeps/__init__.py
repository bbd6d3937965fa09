"""Parameter sweeps, read, kept and drawn as heat. Pure."""
