"""What ``jdk.ExecutionSample`` counts: the JDK samples running threads, async-profiler whatever it was asked for.

Before version 4, async-profiler also writes wall-clock samples as this event. Its setting ``event`` says *wall*, or
names a processor counter; if it samples both, the thread's state is *default* for running threads.
"""

from __future__ import annotations

from typing import Any

from evidence.formats.jfr.chunk import Chunk
from evidence.formats.jfr.classes import STRING
from evidence.profile.stacks import Ints, SampleType

SETTING, STATE = "jdk.ActiveSetting", "jdk.types.ThreadState"
DEFAULT, SLEEPING = "STATE_DEFAULT", "STATE_SLEEPING"
CPU, WALL = SampleType("cpu", "samples"), SampleType("wall", "samples")
TIMERS = {"", "cpu", "ctimer", "itimer"}
# Samples of these are separate events.
OTHERS = {"alloc", "lock", "nativemem"}


class Sampled:
    """Determines what the execution samples of one chunk count."""

    def __init__(self, chunk: Chunk) -> None:
        self._states = {key: _text(value, chunk) for key, value in chunk.constants.of(STATE).items()}
        self._event = ""

    def note(self, chunk: Chunk, kind: int, places: Ints) -> None:
        """Note the recording's settings, which are events of one class."""
        read, found = chunk.classes.reader(kind), chunk.classes.found[kind]
        for at in places.tolist():
            event = read(chunk.cursor(at))
            name, value = (_text(event[place], chunk) if place >= 0 else "" for place in map(found.place, SAID))
            if name == "event":
                self._event = value

    def state(self, key: int) -> str:
        """Return the state of a thread."""
        return self._states.get(key, "")

    def type(self, state: str, met: set[str]) -> SampleType:
        """Return what samples with a state count, given the states ``met`` in the chunk."""
        if self._event == "wall":
            return WALL
        both = DEFAULT in self._states.values()
        if (both and state not in {"", DEFAULT}) or (not both and SLEEPING in met):
            return WALL
        return CPU if self._event in TIMERS | OTHERS else SampleType(self._event[:100], "samples")


SAID = ("name", "value")


def _text(value: Any, chunk: Chunk) -> str:
    """Return a text that is given directly, as a constant, or in a one-element tuple."""
    if isinstance(value, tuple):
        value = value[0] if value else ""
    if isinstance(value, int):
        value = chunk.constants.get(STRING, value)
    return value if isinstance(value, str) else ""
