"""The stack as seen from outside: workspace, account, pages, rows. Imports nothing from Django."""

from stack.outside.account import SandboxAccount
from stack.outside.api import Api
from stack.outside.records import Records
from stack.outside.tracker import SandboxTracker
from stack.outside.visitor import VisitedPage, Visitor
from stack.outside.waiting import until
from stack.outside.workspace import SandboxWorkspace

__all__ = ["Api", "Records", "SandboxAccount", "SandboxTracker", "SandboxWorkspace", "VisitedPage", "Visitor", "until"]
