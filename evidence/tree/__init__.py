"""A profile as a columnar call tree: grown from stacks, stored, mapped into memory. Pure."""
