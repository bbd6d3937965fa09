from django.urls import path, register_converter
from django.urls.converters import StringConverter

from integrations.api import doors, otlp, reading


class Rest(StringConverter):
    """Matches the rest of a path, whatever it contains."""

    regex = "(?s:.*)"


register_converter(Rest, "rest")

urlpatterns = [
    path("api/v1/openapi.json", reading.description, name="api-description"),
    path("api/v1/incidents", reading.incidents, name="api-incidents"),
    path("api/v1/incidents/<slug:codename>", reading.incident, name="api-incident"),
    path("api/v1/incidents/<slug:codename>/events", reading.events, name="api-events"),
    path("api/v1/incidents/<slug:codename>/evidence", doors.evidence, name="api-evidence"),
    path("api/v1/incidents/<slug:codename>/evidence/", doors.evidence),  # many people type the trailing slash
    path("api/v1/incidents/<slug:codename>/evidence/<int:n>", doors.one, name="api-evidence-one"),
    path("api/<rest:elsewhere>", reading.nothing),
    path("v1development/profiles", otlp.profiles, name="otlp-profiles"),
]
