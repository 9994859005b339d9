"""The report of the comparison: the numbers of equal items, and the differences."""

from __future__ import annotations

import math
import struct
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml
from rosbags.interfaces import Nodetype

from definitions import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosbags.interfaces.typing import FieldDesc
    from rosbags.typesys.store import Typestore

    from values import Value

SHOWN = 20
"""The greatest number of printed differences."""
COUNTED = ("types", "values", "bytes-equal", "values-equal", "hashes-equal")


@dataclass
class Report:
    """The counts for each package, and the differences as sentences."""

    counts: defaultdict[str, Counter] = field(default_factory=lambda: defaultdict(Counter))
    differences: list[str] = field(default_factory=list)

    def count(self, package: str, what: str) -> None:
        """Count one item, which is one of COUNTED."""
        self.counts[package][what] += 1

    def differ(self, sentence: str) -> None:
        """Record a difference."""
        self.differences.append(sentence)

    def same_text(self, package: str, what: str, expected: str, found: str, counted: str) -> None:
        """Compare texts such as hashes."""
        if expected == found:
            self.count(package, counted)
        else:
            self.differ(f"{what}: expected {expected}, found {found}")

    def same_bytes(self, package: str, what: str, expected: bytes, found: bytes) -> bool:
        """Compare serialised messages."""
        if expected == found:
            self.count(package, "bytes-equal")
            return True
        at = next((i for i, pair in enumerate(zip(expected, found, strict=False)) if pair[0] != pair[1]), None)
        if at is None:
            self.differ(f"{what}: {len(expected)} bytes expected, {len(found)} found; the shorter is the beginning of the longer")
        else:
            self.differ(
                f"{what}: of {len(expected)} bytes expected and {len(found)} found, the first that differ are at {at}: "
                f"expected {excerpt(expected, at)}, found {excerpt(found, at)}"
            )
        return False

    def same_value(self, package: str, what: str, store: Typestore, name: str, values: tuple[Value, object]) -> None:
        """Compare two values of a message, the expected and the found one, field by field."""
        # In a broken type, every field differs. Three differences are enough.
        wrong = [
            sentence
            for sentence, _ in zip(differences(store, (Nodetype.NAME, name), *values, ""), range(3), strict=False)
        ]
        if not wrong:
            self.count(package, "values-equal")
        for sentence in wrong:
            self.differ(f"{what}: {sentence}")

    def print(self) -> bool:
        """Print the report, and return whether there is no difference."""
        for package, counts in sorted(self.counts.items()):
            print(f"{package}: " + ", ".join(f"{counts[what]} {what}" for what in COUNTED if counts[what]))
        for sentence in self.differences[:SHOWN]:
            print(f"DIFFERENT: {sentence}")
        if len(self.differences) > SHOWN:
            print(f"DIFFERENT: and {len(self.differences) - SHOWN} more")
        total = sum(self.counts.values(), Counter())
        print(
            "interop: "
            + ", ".join(f"{total[what]} {what}" for what in COUNTED)
            + f", {len(self.differences)} different"
        )
        return not self.differences


def excerpt(data: bytes, at: int) -> str:
    """Return the next eight bytes as hexadecimal digits."""
    return data[at : at + 8].hex(" ") or "nothing"


def differences(store: Typestore, kind: FieldDesc, expected: Value, found: object, path: str) -> Iterator[str]:
    """Describe how `found`, which may come from YAML, differs from the expected value of this type."""
    node, rest = kind
    if node == Nodetype.BASE:
        if not equal_scalar(rest[0], expected, found):
            yield f"{path or 'it'}: expected {short(expected)}, found {short(found)}"
    elif node == Nodetype.NAME:
        fields = [field for field in store.fielddefs[rest][1] if field[0] != PLACEHOLDER]
        names = [name for name, _ in fields]
        if not isinstance(found, dict) or list(found) != names:
            yield f"{path or 'it'}: expected the fields {names}, found {short(found)}"
            return
        for name, each in fields:
            yield from differences(store, each, expected[name], found[name], f"{path}.{name}" if path else name)
    elif not isinstance(found, list | bytes) or len(found) != len(expected):
        yield f"{path}: expected {len(expected)} elements, found {short(found)}"
    else:
        for i, pair in enumerate(zip(expected, found, strict=True)):
            yield from differences(store, rest[0], *pair, f"{path}[{i}]")


def equal_scalar(kind: str, expected: Value, found: object) -> bool:
    """Compare numbers and texts. Floats must have the same bits, but all NaNs are equal. A byte may be a text."""
    if kind == "byte" and isinstance(found, str):
        return equal_scalar("string", chr(expected), found)
    if kind not in ("float32", "float64"):
        return type(found) is type(expected) and found in (expected, read_again(expected))
    try:
        # YAML 1.1 reads 1e-5 as a text, YAML 1.2 as a number.
        number = float(found) if isinstance(found, int | float | str) and not isinstance(found, bool) else None
        return number is not None and bits(kind, number) == bits(kind, expected)
    except ValueError:
        return False


def read_again(value: Value) -> object:
    """Return the value after writing and reading YAML. U+0085 is written as a line break and read as a space."""
    if not isinstance(value, str) or "\x85" not in value:
        return value
    return yaml.load(yaml.dump(value, Dumper=yaml.SafeDumper, allow_unicode=True, width=sys.maxsize), Loader=yaml.CSafeLoader)


def bits(kind: str, number: float) -> bytes:
    """Return a number's bits, rounded to its type."""
    if math.isnan(number):
        return b"nan"
    try:
        return struct.pack("<f" if kind == "float32" else "<d", number)
    except OverflowError:
        return b"too great"


def short(value: object) -> str:
    """Return the beginning of a value, for a report."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}… ({len(text)} characters)"
