"""What a profile says: layers, functions, idleness, guards, one sentence, differences. Pure."""
