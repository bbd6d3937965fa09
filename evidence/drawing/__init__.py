"""Flame graphs: for the page by viewport, and as pictures. Pure."""
