"""Commands about types that are kept in a file."""
