"""JSON that may be hostile or too large to hold: fields, outlines and streams. Pure."""
