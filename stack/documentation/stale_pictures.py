"""Which pictures are out of date: for each, the state of the files it shows is stored next to it.

Only what can change a picture counts: not comments in styles and templates, white space, print styles, or attributes
that only scripts and screen readers use. In Python only module docstrings are skipped, and in scripts only block
comments; other comments count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from config.env import ROOT
from incidents import bundles

KEPT: Final = Path("docs/images/taken.json")
PANELS: Final = ["workflows/progress.html", "workflows/pages.html", "workflows/alerts.html", "evidence/panel.html"]
# The pages that a command of `stack/pictures/album.py` takes pictures of, and what else these show.
PAGES: Final = {
    "retype": (
        "incidents/declare.html",
        "workflows/declaring.html",
        "incidents/incident.html",
        "workflows/retype.html",
    ),
    "evidence": ("evidence/profile.html",),
    "slack": (),
}
BESIDE: Final = {
    "retype": ("fixtures/incident_types.yaml", "stack/pictures/retype.py"),
    "evidence": ("static/firekind/flame/*.js", "stack/pictures/flame_graph.py", "stack/story/profiles/pause.py"),
    "slack": ("stack/pictures/phone.py", "integrations/slack/adapter/cards.py", "workflows/planning/wording/*.py"),
}
NAMES: Final = re.compile(r'{% (?:extends|include) "([\w/.]+\.html)"')
UNSEEN: Final = re.compile(
    r'/\*.*?\*/|{% comment.*?endcomment %}|{#.*?#}|\s(?:hx|aria|data)-[\w-]+="[^"]*"|^"""[^"]*"""',
    re.DOTALL | re.MULTILINE,
)
ELSEWHERE: Final = re.compile(r"@media (?:print|\(forced-colors[^{]*)\s*{|@page[^{]*{")


def files(name: str, *, root: Path = ROOT) -> Iterator[str]:
    """Yield the paths of what a group of pictures shows: its pages, their includes, their styles, and the rest."""
    yield from (str(path.relative_to(root)) for pattern in BESIDE[name] for path in sorted(root.glob(pattern)))
    found, ahead = set[str](), [*PAGES[name], *(PANELS if name == "retype" else ())]
    while ahead:
        template = ahead.pop()
        if template not in found:
            found.add(template)
            ahead += NAMES.findall((root / "templates" / template).read_text(encoding="utf-8"))
    yield from (f"templates/{template}" for template in found)
    yield from {style for template in found for style in _styles(root / "templates" / template)}


def _styles(template: Path) -> Iterator[str]:
    for tag, names in bundles.NAMED.findall(template.read_text(encoding="utf-8")):
        if tag == "styles":
            yield from (f"static/{part}" for part in bundles.of(tag, [name.strip('"') for name in names.split()]).parts)


def seen(text: str) -> str:
    """Return the part of a file that can change a picture."""
    text = UNSEEN.sub("", text)
    while found := ELSEWHERE.search(text):
        depth, at = 1, found.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        text = text[: found.start()] + text[at:]
    return " ".join(text.split())


def state(name: str, *, root: Path = ROOT) -> dict[str, str]:
    """Return what a group of pictures would show now: a digest for each file."""
    found = {path: seen((root / path).read_text(encoding="utf-8")) for path in files(name, root=root)}
    return {path: sha256(text.encode()).hexdigest()[:12] for path, text in sorted(found.items())}


def keep(names: Iterator[str] | tuple[str, ...], *, root: Path = ROOT) -> None:
    """Record that these groups were taken of the current files."""
    kept = {**_kept(root), **{name: state(name, root=root) for name in names}}
    (root / KEPT).write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def stale(*, root: Path = ROOT) -> Iterator[str]:
    """Yield a sentence for each group of pictures that was taken before something that it shows changed."""
    kept = _kept(root)
    for name in PAGES:
        now, then = state(name, root=root), kept.get(name, {})
        changed = sorted(path for path in {*now, *then} if now.get(path) != then.get(path))
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            yield (
                f"The pictures of {name} in docs/images were taken before {changed[0]}{more} changed. "
                f"Run `make pictures ARGS={name}`, look at them, and commit them."
            )


def _kept(root: Path) -> Mapping[str, Mapping[str, str]]:
    path = root / KEPT
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
