"""The review of an ended incident: composed from its timeline, then edited, discussed and published by people."""
