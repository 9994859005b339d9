"""Makes random values of messages as plain Python objects: dict, list, bytes (for uint8 and byte), bool, int, float,
str.

rosbags and cyclonedds serialise these values, and Gantry's YAML is compared with them.
"""

from __future__ import annotations

import struct
from enum import Enum
from typing import TYPE_CHECKING

from rosbags.interfaces import Nodetype

from definitions import PLACEHOLDER

if TYPE_CHECKING:
    import random

    from rosbags.interfaces.typing import FieldDesc
    from rosbags.typesys.store import Typestore

Value = dict[str, "Value"] | list["Value"] | bytes | bool | int | float | str

OCTETS = ("uint8", "byte")
TEXTS = (
    *(
        "",
        "a",
        "map",
        "base_link",
        "Grüße, 世界 🤖",
        "ß" * 200,
        "x" * 1000,
        "é\u2028\u0085\ufeff",
        "\x01\x1b\x7f",
        "a\r\nb\n",
    ),
    # YAML would read these texts as another type if they had no quotes.
    *(
        "yes",
        "null",
        "~",
        "1.0",
        "0x10",
        "1:30",
        "-",
        "- a",
        "a: b",
        "a #b",
        "{}",
        "'",
        '"',
        "\\n",
        " a ",
        "\t",
        "---",
        "!t",
    ),
)
FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, 1e-5, 1e7, 1e16, 1e22, float("inf"), float("-inf"), float("nan"))
FLOAT_EXTREMES = {
    "float32": (struct.unpack("<f", b"\xff\xff\x7f\x7f")[0], struct.unpack("<f", b"\x01\0\0\0")[0]),
    "float64": (struct.unpack("<d", b"\xff\xff\xff\xff\xff\xff\xef\x7f")[0], 5e-324),
}
LONG = 70
"""The length of a long sequence without a smaller bound."""
FULL = 4096
"""The greatest bound of a sequence up to which it is filled."""


class Style(Enum):
    """The style of random values."""

    LEAST = "everything zero and empty"
    MOST = "every number at its limit, sequences long"
    MIXED = "anything, and often an edge"


def random_value(store: Typestore, name: str, style: Style, rng: random.Random) -> dict[str, Value]:
    """Make a random message."""
    fields = store.fielddefs[name][1]
    return {field: random_field(store, kind, style, rng) for field, kind in fields if field != PLACEHOLDER}


def random_field(store: Typestore, description: FieldDesc, style: Style, rng: random.Random) -> Value:
    """Make a random field."""
    kind, rest = description
    if kind == Nodetype.NAME:
        return random_value(store, rest, style, rng)
    if kind == Nodetype.BASE:
        return random_scalar(rest[0], rest[1], style, rng)
    element, size = rest
    length = size if kind == Nodetype.ARRAY else random_length(element, size, style, rng)
    if element[0] == Nodetype.BASE and element[1][0] in OCTETS:
        return {Style.LEAST: bytes(length), Style.MOST: b"\xff" * length}.get(style) or rng.randbytes(length)
    return [random_field(store, element, style, rng) for _ in range(length)]


def random_length(element: FieldDesc, bound: int, style: Style, rng: random.Random) -> int:
    """Choose a random length for a sequence. `bound` is 0 if the sequence has no bound."""
    if style == Style.LEAST:
        return 0
    if style == Style.MOST and 0 < bound <= FULL:
        return bound
    # The lengths are small, because the lengths of nested sequences multiply.
    long = LONG if element[0] == Nodetype.BASE else 3
    length = long if style == Style.MOST else rng.choice((0, 1, 2, 3, 5, rng.randrange(long)))
    return min(length, bound) if bound else length


def random_scalar(kind: str, bound: int, style: Style, rng: random.Random) -> Value:
    """Make a random number or text. `bound` is the largest length of a text in bytes, or 0 for no bound."""
    if kind == "string":
        text = {Style.LEAST: "", Style.MOST: "x" * (bound or 300)}.get(style)
        text = rng.choice(TEXTS) if text is None else text
        return text.encode()[:bound].decode(errors="ignore") if bound else text
    if kind == "bool":
        return {Style.LEAST: False, Style.MOST: True}.get(style, rng.random() < 0.5)
    if kind in FLOAT_EXTREMES:
        return random_float(kind, style, rng)
    bits = 8 if kind == "byte" else int(kind.lstrip("uint"))
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.startswith("int") else (0, (1 << bits) - 1)
    edges = (least, most, 0, 1, most - 1)
    mixed = rng.choice(edges) if rng.random() < 0.3 else rng.randint(least, most)
    # The limit that is farther from zero. For signed numbers, it is the negative limit.
    return {Style.LEAST: 0, Style.MOST: least or most}.get(style, mixed)


def random_float(kind: str, style: Style, rng: random.Random) -> float:
    """Make a random number in the range of its type."""
    if style == Style.LEAST:
        return 0.0
    if style == Style.MOST:
        return FLOAT_EXTREMES[kind][0]
    value = (
        rng.choice((*FLOATS, *FLOAT_EXTREMES[kind]))
        if rng.random() < 0.4
        else rng.gauss(0, 1) * 10 ** rng.randint(-9, 9)
    )
    return struct.unpack("<f", struct.pack("<f", value))[0] if kind == "float32" else value
