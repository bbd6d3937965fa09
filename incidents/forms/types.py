"""The form for a type's policy, with an error next to each field."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from incidents.forms import type_rows
from incidents.forms.type_rows import CAPTURES, ROLES, RowsField, TypeRow
from incidents.policies.policy import COLOURS, MEASURES, MOMENTS, Capture, OneOf, Policy
from incidents.policies.policy_file import HANDLE, LINE_CHARS, ROLE_CHARS, SLUG, TARGET_CHARS

NAME_CHARS = 40


def _picked(of: str, *, unknown: str) -> dict[str, str]:
    """Return the attributes a script needs to offer a list; without the script, the field takes what is typed."""
    return {"data-picks": of, "data-unknown": unknown}


def _lines(label: str, *, hint: str, rows: int = 3, attrs: dict[str, str] | None = None) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": rows} | (attrs or {}))
    return forms.CharField(label=label, required=False, widget=area, help_text=hint, max_length=4000)


class TypeForm(forms.Form):
    """What a type is called, how it is described, and what it asks for."""

    slug = forms.CharField(
        label="Slug",
        max_length=40,
        help_text="Used in commands and URLs: a-z, 0-9 and -. It cannot be changed.",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    name = forms.CharField(label="Name", max_length=NAME_CHARS, help_text="One or two plain words.")
    says = forms.CharField(label="Description", max_length=LINE_CHARS, help_text="How to recognise this type.")
    colour = forms.ChoiceField(label="Colour", choices=[(one, one) for one in COLOURS], widget=forms.RadioSelect)
    private = forms.BooleanField(label="Private", required=False, help_text="Only the people brought in can see it.")
    customer_facing = forms.BooleanField(label="Customer-facing", required=False)
    internal = forms.BooleanField(label="Internal", required=False)
    announce = forms.BooleanField(label="Announce", required=False, help_text="In the announcement channel.")
    invite = forms.CharField(
        label="Groups to bring in",
        required=False,
        help_text="Handles of user groups, as in @support @leadership.",
        widget=forms.TextInput(attrs=_picked("groups", unknown="not a group in Slack")),
    )
    one_of = RowsField(
        ROLES,
        label="Roles for exactly one person",
        hint="Picks the person on call, else someone in the group, else the named person. Fill in at least one.",
    )
    pages = _lines(
        "Who to page",
        hint="One per line: the name or ID of an escalation policy or service.",
        rows=2,
        attrs=_picked("pages", unknown="not in PagerDuty"),
    )
    update_every_min = forms.IntegerField(
        label="Update every … minutes",
        required=False,
        min_value=1,
        max_value=99999,
        help_text="Leave empty for no reminders.",
    )
    roles = _lines("Roles to fill", hint="One per line, as in Scribe.", attrs=_picked("roles", unknown="new"))
    checklist = _lines("Checklist", hint="One per line.", rows=4)
    captures = RowsField(
        CAPTURES,
        label="Profiles to capture",
        hint="Without a duration, Firekind uses the usual one for that kind of profile.",
    )

    def __init__(self, data: QueryDict | None = None, *, policy: Policy | None = None) -> None:
        super().__init__(
            data, initial=_shown(policy) if policy else {"colour": "slate", "announce": True}, label_suffix=""
        )
        self.kept: dict[str, Any] = {"slug": policy.slug} if policy else {}
        if policy:
            del self.fields["slug"]

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"]).strip().lower()
        if not SLUG.fullmatch(slug):
            raise forms.ValidationError("Use 2 to 40 of a-z, 0-9 and -, starting with a letter.")
        return slug

    def clean_invite(self) -> tuple[str, ...]:
        words = self.cleaned_data["invite"].replace(",", " ").split()
        return tuple(dict.fromkeys(_handle(word) for word in words))

    def clean_one_of(self) -> tuple[OneOf, ...]:
        found: tuple[OneOf, ...] = self.cleaned_data["one_of"]
        if len({one.role.casefold() for one in found}) < len(found):
            raise forms.ValidationError("One person fills a role, so list it once.")
        return found

    def clean_pages(self) -> tuple[str, ...]:
        return _short(_split(self.cleaned_data["pages"]), chars=TARGET_CHARS)

    def clean_roles(self) -> tuple[str, ...]:
        return _short(_split(self.cleaned_data["roles"]), chars=ROLE_CHARS)

    def clean_checklist(self) -> tuple[str, ...]:
        return _short(_split(self.cleaned_data["checklist"]), chars=LINE_CHARS)

    def clean_captures(self) -> tuple[Capture, ...]:
        captures: tuple[Capture, ...] = self.cleaned_data["captures"]
        found = {one.key: one for one in captures}
        if len(found) < len(captures):
            raise forms.ValidationError("Two rows capture the same profile at the same moment. Remove one.")
        return tuple(found.values())

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("private") and given.get("announce"):
            self.add_error("announce", "A private type cannot be announced.")
        return given

    def role_rows(self) -> list[TypeRow]:
        """Return the rows of roles for exactly one person."""
        return self._rows("one_of")

    def capture_rows(self) -> list[TypeRow]:
        """Return the rows of profiles to capture."""
        return self._rows("captures")

    def capture_kinds(self) -> list[tuple[str, str]]:
        """Return what can be captured: its key and its name."""
        return [(kind, measure.name) for kind, measure in MEASURES.items()]

    def capture_moments(self) -> tuple[str, ...]:
        """Return the moments at which a profile may be captured."""
        return MOMENTS

    def role_errors(self) -> list[str]:
        """Return what is wrong with the roles for exactly one person as a whole."""
        return type_rows.of_whole(self._wrong("one_of"))

    def capture_errors(self) -> list[str]:
        """Return what is wrong with the profiles to capture as a whole."""
        return type_rows.of_whole(self._wrong("captures"))

    def _rows(self, name: str) -> list[TypeRow]:
        field = self.fields[name]
        assert isinstance(field, RowsField), "declared as one"
        return field.rows(self[name].value() or (), self._wrong(name))

    def _wrong(self, name: str) -> list[forms.ValidationError]:
        return self.errors.as_data().get(name, []) if self.is_bound else []

    def policy(self) -> Policy:
        """Return the policy that this form describes, once it is valid."""
        return Policy(**(self.kept | self.cleaned_data))


def _shown(policy: Policy) -> dict[str, Any]:
    """Return a policy as the form's fields show it."""
    return policy.as_dict() | {
        "invite": " ".join(f"@{handle}" for handle in policy.invite),
        "one_of": policy.one_of,
        "pages": "\n".join(policy.pages),
        "roles": "\n".join(policy.roles),
        "checklist": "\n".join(policy.checklist),
        "captures": policy.captures,
    }


def _split(text: str) -> list[str]:
    return list(dict.fromkeys(line for raw in text.splitlines() if (line := " ".join(raw.split()))))


def _short(lines: list[str], *, chars: int) -> tuple[str, ...]:
    long = next((line for line in lines if len(line) > chars), None)
    if long is not None:
        raise forms.ValidationError(f"At most {chars} characters per line; this one has {len(long)}: {long[:40]}…")
    return tuple(lines)


def _handle(word: str) -> str:
    handle = word.lstrip("@").lower()
    if not HANDLE.fullmatch(handle):
        raise forms.ValidationError(f"{word!r} is not a group handle: use a-z, 0-9, dots, - and _.")
    return handle
