"""What a vendor refused when last asked because of how it is set up. Only trying shows that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from incidents import sentences
from integrations.check_result import CheckResult, wrong
from workflows.effects.failing import refused_last
from workflows.effects.failing.refused_last import ANNOUNCED
from workflows.models import Effect
from workflows.planning.actions import KINDS

# A failed step may have been done by hand since, or no longer be wanted: its error code stays.
ENDED: Final = (Effect.State.FAILED, Effect.State.DONE, Effect.State.CANCELLED)


def findings(port: str, vendor: str, *, codes: Mapping[str, str]) -> Iterator[CheckResult]:
    """Yield the steps that were refused with one of these codes and not done in any incident since, by reason.

    ``codes`` maps each code to its message, for steps that no longer have their own.
    """
    kinds = [kind for kind, about in KINDS.items() if about.port == port]
    steps = Effect.objects.filter(kind__in=kinds, tried_at__isnull=False).exclude(ANNOUNCED)
    refused = steps.filter(state__in=ENDED, error_code__in=codes).order_by("tried_at")
    last = {refused_last.of(one): one for one in refused}
    stand = [
        (one.error or codes[one.error_code], refused_last.deed(step))
        for step, one in last.items()
        if not _was_done_since(one)
    ]
    for why, deeds in groupby(sorted(stand), key=lambda one: one[0]):
        yield wrong(f"{vendor} refused to {sentences.enumerated([deed for _, deed in deeds])} when last asked. {why}")


def _was_done_since(refused: Effect) -> bool:
    alike = refused_last.alike(refused_last.of(refused)).exclude(ANNOUNCED)
    return alike.filter(tried_at__gt=refused.tried_at, state=Effect.State.DONE, error_code="").exists()
