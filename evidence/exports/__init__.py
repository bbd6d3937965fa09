"""Profiles in other tools' formats. Pure."""
