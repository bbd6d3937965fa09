"""Classes that a JVM generates at run time, such as those of lambdas, with a new number and address in each run. Pure.

``Shop$$Lambda$93+0x00007fa1ec009a20/1384010761`` in recordings, ``Shop$$Lambda$93/0x00007fa1ec009a20`` in thread dumps,
``Shop$$Lambda/0x…`` since JDK 21. What such a class runs is a method of its own, ``Shop.lambda$main$4``, right below.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from evidence.profile.stacks import Stacks

_NUMBERED = re.compile(r"(\$\$Lambda|\bLambdaForm\$\w+)(?:\$\d+)?(?:[+/.](?:0x[0-9a-f]+|\d+))*(?=[.:;/]|$)")


def merged(stacks: Stacks) -> Stacks:
    """Return stacks in which such classes have the same name in every run; most stacks have none of them."""
    renamed = {name: new for name in stacks.names if "Lambda" in name and (new := _NUMBERED.sub(r"\1", name)) != name}
    if not renamed:
        return stacks
    shown = [renamed.get(name, name) for name in stacks.names]
    hints: dict[str, str] = {}
    for name, hint in zip(shown, stacks.hints, strict=True):
        hints[name] = hint if hints.get(name, hint) == hint else ""
    codes = {name: code for code, name in enumerate(hints)}
    code = np.array([codes[name] for name in shown], dtype=np.int32)
    places = {renamed.get(name, name): place for name, place in stacks.places.items()}
    return replace(stacks, names=list(hints), hints=list(hints.values()), frames=code[stacks.frames], places=places)
