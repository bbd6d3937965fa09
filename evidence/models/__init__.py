"""The tables of evidence, findings and tokens."""

from evidence.models.evidence import Evidence, HotFunction
from evidence.models.finding import Finding, Round, Support
from evidence.models.token import Token

__all__ = ["Evidence", "Finding", "HotFunction", "Round", "Support", "Token"]
