"""Compressed files and archives, and words for what is no profile. Pure."""
