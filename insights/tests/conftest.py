"""The people and the types of the incidents' tests."""

from incidents.tests.conftest import ada, ben, browse, eve, shipped

__all__ = ["ada", "ben", "browse", "eve", "shipped"]
