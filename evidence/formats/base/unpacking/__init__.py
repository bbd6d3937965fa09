"""Compressed files and archives, and explanations for what is not a profile. Pure."""
