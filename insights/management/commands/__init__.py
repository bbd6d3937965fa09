"""Commands for types that are kept in a file."""
