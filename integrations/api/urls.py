from django.urls import path

from integrations.api import doors, otlp

urlpatterns = [
    path("api/v1/incidents/<slug:codename>/evidence", doors.evidence, name="api-evidence"),
    path("api/v1/incidents/<slug:codename>/evidence/", doors.evidence),  # as many people type it
    path("api/v1/incidents/<slug:codename>/evidence/<int:n>", doors.one, name="api-evidence-one"),
    path("v1development/profiles", otlp.profiles, name="otlp-profiles"),
]
