"""Every verb of an incident as people do it: the control that leads to it, and the input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

OTHER = "{other}"  # stands for the codename of another incident
NO_DIALOG = {"check", "finish", "let-in", "turn-away"}


@dataclass(frozen=True, slots=True)
class Step:
    """One verb: the input by label, who is picked, what would be wrong, and where it begins if not on top."""

    verb: str
    fills: Mapping[str, str] = field(default_factory=dict)
    picks: str = ""
    opener: str = ""
    wrong: Mapping[str, str] | None = None

    @property
    def control(self) -> str:
        """The control that leads to it."""
        return self.opener or f"#do-{self.verb}"


WALK = (
    Step("lead", picks="Mateo", opener="#nobody-leads"),
    Step("lead", picks="Ada"),
    Step("role", picks="Mateo", opener="#roles [aria-label^='Assign']"),
    Step("bring", picks="Hannah", wrong={}),
    Step("rename", {"Title": "Checkout is down"}, wrong={"Title": " "}),
    Step("summary", {"Summary": "Nothing goes through."}),
    Step("services", {"Services, one per line": "checkout"}, wrong={"Services, one per line": "x" * 81}),
    Step("check", opener="#checklist button"),
    Step("task", {"What?": "Roll checkout back"}, opener="#add-task"),
    Step("finish", opener="#finish-1"),
    Step("follow-up", {"What?": "Alert on it"}, opener="#add-followup", wrong={"What?": " "}),
    Step("reassign", picks="Mateo", opener="#reassign-2"),
    Step("drop", {"Why? (optional)": "the deploy checks it"}, opener="#drop-2"),
    Step("mitigate", {"What helped? (optional)": "rolled back"}),
    Step("reopen"),
    Step("resolve"),
    Step("archive"),
    Step("reopen"),
    Step("cancel"),
    Step("reopen"),
    Step(
        "duplicate", {"Codename of the other incident": OTHER}, wrong={"Codename of the other incident": "no-such-one"}
    ),
    Step("reopen"),
    Step("check", opener="#checklist button"),
)


def press(page: Page, control: str) -> None:
    """Press a control by keyboard; for one in the menu, open the menu first."""
    node = page.locator(control).first
    if not node.is_visible():
        page.locator("#head .menu > summary").press("Enter")
    node.press("Enter")


def carry_out(page: Page, step: Step, *, other: str = "") -> None:
    """Do one verb by keyboard, in its dialog if it has one."""
    press(page, step.control)
    if step.verb in NO_DIALOG:
        return
    dialog = page.locator("#dialog")
    expect(dialog).to_be_visible()
    fill(dialog, step, other=other)
    dialog.locator("#act-now").press("Enter")
    expect(dialog).not_to_be_visible()


def fill(form: Locator, step: Step, *, other: str = "") -> None:
    """Fill in a verb's form; without scripts a person is searched for by a button."""
    for label, words in step.fills.items():
        form.get_by_label(label).fill(words.format(other=other))
    if step.picks:
        form.get_by_label("Find someone by name").fill(step.picks)
        if form.get_by_role("button", name="Find").is_visible():
            form.get_by_role("button", name="Find").click()
        form.get_by_label(step.picks).check()


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus, like people without a mouse."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the keyboard never gets to {selector}")
