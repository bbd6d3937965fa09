"""The form for a type's policy, with an error next to each field."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from incidents.policies import capture_lines, one_of_lines
from incidents.policies.policy import COLOURS, Capture, OneOf, Policy
from incidents.policies.policy_file import HANDLE, LINE_CHARS, ROLE_CHARS, SLUG, TARGET_CHARS

NAME_CHARS = 40


def _lines(label: str, *, hint: str, rows: int = 3) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": rows})
    return forms.CharField(label=label, required=False, widget=area, help_text=hint, max_length=4000)


class TypeForm(forms.Form):
    """What a type says of itself and what it asks for."""

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
    announce = forms.BooleanField(label="Announce", required=False, help_text="In the channel that everyone reads.")
    invite = forms.CharField(
        label="Groups to bring in", required=False, help_text="Handles, separated by spaces: @support @leadership"
    )
    one_of = _lines(
        "Exactly one person",
        hint=f"One per line, as in: {one_of_lines.FORM}. Any one of the three is enough, as in: Scribe: @scribes.",
        rows=2,
    )
    pages = _lines("Who to page", hint="One per line: the name or ID of an escalation policy or service.", rows=2)
    update_every_min = forms.IntegerField(
        label="Update every … minutes",
        required=False,
        min_value=1,
        max_value=99999,
        help_text="Leave empty for no reminders.",
    )
    roles = _lines("Roles to fill", hint="One per line.")
    checklist = _lines("Checklist", hint="One per line.", rows=4)
    captures = _lines(
        "Profiles to capture",
        hint=(
            f"One per line, as in: {capture_lines.FORM}. Also on retype, reopen, mitigate or resolve. Add “, 3 times "
            "every 5 min” to repeat it."
        ),
        rows=2,
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
        found = [_one_of(line) for line in _split(self.cleaned_data["one_of"])]
        if len({one.role.casefold() for one in found}) < len(found):
            raise forms.ValidationError("One person fills a role, so list it once.")
        return tuple(found)

    def clean_pages(self) -> tuple[str, ...]:
        return _short(_split(self.cleaned_data["pages"]), chars=TARGET_CHARS)

    def clean_roles(self) -> tuple[str, ...]:
        return _short(_split(self.cleaned_data["roles"]), chars=ROLE_CHARS)

    def clean_checklist(self) -> tuple[str, ...]:
        return _short(_split(self.cleaned_data["checklist"]), chars=LINE_CHARS)

    def clean_captures(self) -> tuple[Capture, ...]:
        captures = [_capture(line) for line in _split(self.cleaned_data["captures"])]
        found = {one.key: one for one in captures}
        if len(found) < len(captures):
            raise forms.ValidationError("Two lines capture the same profile at the same moment. Remove one.")
        return tuple(found.values())

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("private") and given.get("announce"):
            self.add_error("announce", "A private type cannot be announced.")
        return given

    def policy(self) -> Policy:
        """Return the policy that this form describes, once it is valid."""
        return Policy(**(self.kept | self.cleaned_data))


def _shown(policy: Policy) -> dict[str, Any]:
    """Return a policy as the form's fields show it."""
    return policy.as_dict() | {
        "invite": " ".join(f"@{handle}" for handle in policy.invite),
        "one_of": "\n".join(map(one_of_lines.said, policy.one_of)),
        "pages": "\n".join(policy.pages),
        "roles": "\n".join(policy.roles),
        "checklist": "\n".join(policy.checklist),
        "captures": "\n".join(map(capture_lines.said, policy.captures)),
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


def _capture(line: str) -> Capture:
    try:
        return capture_lines.read(line)
    except capture_lines.UnclearCapture as unclear:
        raise forms.ValidationError(str(unclear)) from unclear


def _one_of(line: str) -> OneOf:
    try:
        return one_of_lines.read(line)
    except one_of_lines.UnclearRole as unclear:
        raise forms.ValidationError(str(unclear)) from unclear
