"""Write a CPU profile in pprof's format by hand, with the field numbers of google/pprof's `proto/profile.proto`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

VARINT, BYTES = 0, 2


def profile(
    samples: Mapping[tuple[str, ...], tuple[int, int]], *, began_ns: int, lasted_ns: int, every_s: float
) -> bytes:
    """Encode samples. Each stack, innermost function first, has a number of samples and the nanoseconds they cover."""
    words = ["", "samples", "count", "cpu", "nanoseconds", "checkout_api.py"]
    names = sorted({name for stack in samples for name in stack})
    numbers = {name: n for n, name in enumerate(names, start=1)}
    parts = [
        _message(1, _value_type(1, 2)),
        _message(1, _value_type(3, 4)),
        *(_message(2, _sample([numbers[name] for name in stack], counts)) for stack, counts in samples.items()),
        *(_message(4, _location(n)) for n in numbers.values()),
        *(_message(5, _function(n, len(words) + n - 1)) for n in numbers.values()),
        *(_message(6, word.encode()) for word in [*words, *names]),
        _number(9, began_ns),
        _number(10, lasted_ns),
        _message(11, _value_type(3, 4)),
        _number(12, round(every_s * 1e9)),
        _number(14, 3),
    ]
    return b"".join(parts)


def _value_type(type: int, unit: int) -> bytes:
    return _number(1, type) + _number(2, unit)


def _sample(locations: Iterable[int], values: Iterable[int]) -> bytes:
    return _message(1, b"".join(map(_varint, locations))) + _message(2, b"".join(map(_varint, values)))


def _location(n: int) -> bytes:
    return _number(1, n) + _message(4, _number(1, n))


def _function(n: int, name: int) -> bytes:
    return _number(1, n) + _number(2, name) + _number(4, 5)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | VARINT) + _varint(value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | BYTES) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
