"""The stand-in PagerDuty account behind HTTP: its two APIs, its webhooks, a door for tests and a page to look at."""

from . import control, doors, routes

ROUTES = [*doors.ROUTES, *control.ROUTES, *routes.ROUTES]
