"""What is said about one sample type of a profile: its sentence and guards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidence.models import Evidence

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree


def of(evidence: Evidence, tree: CallTree, *, type: int) -> tuple[str, list[str]]:
    """Return sentence and guards as stored when it was read, with the incident's subject in mind; else computed now.

    Guards about the whole file apply to each of its sample types.
    """
    each, told = evidence.summary.get("sentences", []), list(evidence.summary.get("guards", []))
    if type == tree.default_type and evidence.says:
        return evidence.says, told
    if len(each) != len(tree.sample_types):
        from evidence.analysis import sentence

        made = sentence.of(tree, type=type)
        return made.text, list(made.guards)
    of_the_file = [one for one in told if one not in each[tree.default_type]["guards"]]
    return str(each[type]["text"]), [*of_the_file, *each[type]["guards"]]
