"""A profile in other tools' formats. Pure."""
