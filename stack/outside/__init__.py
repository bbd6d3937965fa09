"""The stack as it looks from outside: workspace, account, pages, rows. Nothing of Django is imported here."""

from stack.outside.account import Account
from stack.outside.api import Api
from stack.outside.records import Records
from stack.outside.visitor import Page, Visitor
from stack.outside.waiting import until
from stack.outside.workspace import Workspace

__all__ = ["Account", "Api", "Page", "Records", "Visitor", "Workspace", "until"]
