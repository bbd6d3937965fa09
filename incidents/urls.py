from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, path

from incidents.drills import replay_page
from incidents.live import closings, live_stream
from incidents.models import page_routes
from incidents.views import (
    access,
    act,
    audit,
    declare,
    followups,
    page,
    people,
    roles,
    summaries,
    types,
)
from incidents.views.lists import listing, spreadsheet

urlpatterns: list[URLPattern | URLResolver] = [
    path("", listing.listing, name="incidents"),
    path("incidents/", listing.whole),
    path("incidents.csv", spreadsheet.as_csv, name="incidents-csv"),
    path("jump", listing.jump, name="jump"),
    path("start/hide", listing.hide_start, name="start-hide"),
    path("views/keep", listing.keep, name="view-keep"),
    path("views/<int:pk>/rename", listing.rename, name="view-rename"),
    path("views/<int:pk>/drop", listing.drop, name="view-drop"),
    path(page_routes.FOLLOWUPS, followups.listing, name="followups"),
    path("declare", declare.declare, name="declare"),
    path("declare/open", declare.already, name="declare-open"),
    path("people", people.people, name="people"),
    path(page_routes.ROLES, roles.listing, name="roles"),
    path("people/roles/<int:pk>", roles.give, name="role"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("audit/", audit.listing, name="audit"),
    path("audit/entries.csv", audit.as_csv, name="audit-csv"),
    path("types/", types.listing, name="types"),
    path("types/add", types.add, name="type-add"),
    path("types/<slug:slug>/", types.edit, name="type"),
    path("types/<slug:slug>/versions/<int:number>", types.version, name="type-version"),
    path("types/<slug:slug>/<slug:verb>", types.act, name="type-act"),
    path("closings/stream", closings.stream, name="closings"),
    path("access/", access.ask, name="access-which"),
    path("access/<slug:codename>", access.ask, name="access"),
    path("access/<slug:codename>/now", access.glass, name="access-glass"),
    path(page_routes.SUMMARY, summaries.summary, name="summary"),
    path(page_routes.INCIDENT, page.page, name="incident"),
    path("incidents/<slug:codename>/live", page.live, name="incident-live"),
    path("incidents/<slug:codename>/stream", live_stream.stream, name="incident-stream"),
    path("incidents/<slug:codename>/earlier", page.earlier, name="incident-earlier"),
    path("incidents/<slug:codename>/timeline", page.sifted, name="incident-timeline"),
    path("incidents/<slug:codename>/history/<int:n>", page.history, name="incident-history"),
    path("incidents/<slug:codename>/access", access.panel, name="incident-access"),
    path("incidents/<slug:codename>/write", act.write, name="incident-write"),
    path("incidents/<slug:codename>/replay", replay_page.replay, name="replay"),
    path("incidents/<slug:codename>/<slug:verb>", act.act, name="incident-act"),
]
