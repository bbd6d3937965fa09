"""Template tags of figures, in addition to those of incidents."""
