"""The OpenAPI document. A test checks it against the URLs and their responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evidence.models.token import Scope
from incidents.models import Source, Status
from integrations.api.query_schemas import FILTERS, FROM_N, UPLOAD, Schema, asked

TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer", "minimum": 0}
YES_NO: Final[Schema] = {"type": "boolean"}
TIME: Final[Schema] = {"type": "string", "format": "date-time"}
NAME: Final[Schema] = {"type": ["string", "null"]}
MAYBE_TIME: Final[Schema] = {"type": ["string", "null"], "format": "date-time"}


def several(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def thing(**fields: Schema) -> Schema:
    """Return the schema of an object with exactly these fields."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def refers(name: str) -> Schema:
    """Return a reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


ROW: Final = {
    "codename": TEXT,
    "title": TEXT,
    "type": TEXT,
    "status": {"enum": list(Status.values)},
    "private": YES_NO,
    "drill": YES_NO,
    "declared_at": TIME,
    "mitigated_at": MAYBE_TIME,
    "ended_at": MAYBE_TIME,
    "lead": NAME,
    "url": TEXT,
}
SCHEMAS: Final = {
    "Row": thing(**ROW),
    "Incident": thing(
        **ROW,
        summary=TEXT,
        impact=NAME,
        next_step={"anyOf": [{"type": "null"}, thing(text=TEXT, owner=NAME)]},
        followups=several(
            thing(
                n=WHOLE,
                text=TEXT,
                phase=TEXT,
                state=TEXT,
                owner=NAME,
                due_on=NAME,
                link=TEXT,
                ticket={"anyOf": [{"type": "null"}, thing(label=TEXT, url=TEXT)]},
                made_at=TEXT,
            )
        ),
        services=several(TEXT),
        duplicate_of=NAME,
        settled=YES_NO,
        channel={"anyOf": [{"type": "null"}, thing(id=TEXT, name=TEXT, private=YES_NO)]},
        people=several(thing(name=TEXT, why=TEXT, reasons=several(TEXT), state=TEXT, needed=YES_NO)),
        gaps=several(TEXT),
    ),
    "Event": thing(
        n=WHOLE,
        kind=TEXT,
        at=TIME,
        by=NAME,
        source={"enum": list(Source.values)},
        text=TEXT,
        about={"type": ["integer", "null"]},
        redacted=YES_NO,
        link=TEXT,
    ),
    "Incidents": thing(incidents=several(refers("Row")), next=NAME),
    "Events": thing(incident=TEXT, events=several(refers("Event")), next={"type": ["integer", "null"]}),
    "Evidence": {"type": "object", "properties": {"n": WHOLE, "url": TEXT, "state": TEXT, "says": TEXT}},
    "EvidenceList": thing(incident=TEXT, evidence=several(refers("Evidence"))),
    "Refusal": {"type": "object", "properties": {"error": TEXT, "says": TEXT}, "required": ["error", "says"]},
}
WHYS: Final = {
    "400": "A parameter is invalid, unknown or sent twice, and `parameter` names it; or the body is no file.",
    "401": "The token is missing or invalid.",
    "403": "The token lacks a scope; `scope` names it.",
    "404": "The incident does not exist, or the token's owner cannot see it: both get the same response.",
    "413": "The file is too large.",
    "429": "Too many requests with this token; `Retry-After` says how many seconds to wait.",
}
STANDS: Final = {  # refusals per kind of endpoint; a list never answers 404
    "list": ("400", "401", "403", "429"),
    "one": ("400", "401", "403", "404", "429"),
    "file": ("400", "401", "403", "404", "413", "429"),
}


CODENAME: Final = asked("codename", "The incident's codename, or an older one.", TEXT, where="path")
NUMBER: Final = asked("n", "The number of the entry.", WHOLE, where="path")


def operation(
    says: str, *, scope: Scope, answers: str, refusals: str, given: Sequence[Schema] = (), status: str = "200"
) -> Schema:
    """Describe one method of a path."""
    done = {status: {"description": "Success.", "content": _json(answers)}}
    refused = {code: {"description": WHYS[code], "content": _json("Refusal")} for code in STANDS[refusals]}
    described: Schema = {"summary": says, "security": [{"token": [scope.value]}], "responses": done | refused}
    return described | ({"parameters": list(given)} if given else {})


def document(base_url: str) -> Schema:
    """Return the document for a site at this base URL."""
    read, write = Scope.INCIDENTS_READ, Scope.EVIDENCE_WRITE
    body = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "minLength": 1}}}}
    add = operation(
        "Add a file as evidence", scope=write, answers="Evidence", refusals="file", given=UPLOAD, status="201"
    )
    found = operation("List its evidence", scope=write, answers="EvidenceList", refusals="one")
    paths = {
        "/incidents": {
            "get": operation("List incidents", scope=read, answers="Incidents", refusals="list", given=FILTERS)
        },
        "/incidents/{codename}": {
            "parameters": [CODENAME],
            "get": operation("Describe an incident", scope=read, answers="Incident", refusals="one"),
        },
        "/incidents/{codename}/events": {
            "parameters": [CODENAME],
            "get": operation("List its timeline", scope=read, answers="Events", refusals="one", given=FROM_N),
        },
        "/incidents/{codename}/evidence": {
            "parameters": [CODENAME],
            "get": found,
            "post": add | {"requestBody": body},
        },
        "/incidents/{codename}/evidence/{n}": {
            "parameters": [CODENAME, NUMBER],
            "get": operation("Describe a piece of evidence", scope=write, answers="Evidence", refusals="one"),
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Firekind", "version": "1", "description": "Keys may be added but are never removed."},
        "servers": [{"url": f"{base_url}/api/v1"}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "fk_…"}},
            "schemas": SCHEMAS,
        },
    }


def _json(name: str) -> Schema:
    return {"application/json": {"schema": refers(name)}}
