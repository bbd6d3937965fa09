"""What an incident type asks for: as a frozen value, in YAML, in words, and how it is changed."""
