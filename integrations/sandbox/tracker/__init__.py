"""The stand-in issue tracker behind HTTP: GitHub's API, its webhooks, a door for tests and a page to look at."""

from . import doors, routes

ROUTES = [*doors.ROUTES, *routes.ROUTES]
