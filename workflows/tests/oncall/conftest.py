"""The people and incidents of the on-call tests."""

from incidents.tests.conftest import ada, ben, browse, eve, incident, secret, shipped

__all__ = ["ada", "ben", "browse", "eve", "incident", "secret", "shipped"]
