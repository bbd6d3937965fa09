"""Ruby's profilers."""
