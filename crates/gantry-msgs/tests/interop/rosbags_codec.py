"""Converts values to CDR and back with rosbags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys.base import normalize_fieldname

from definitions import PLACEHOLDER
from values import OCTETS

if TYPE_CHECKING:
    from rosbags.interfaces.typing import FieldDesc
    from rosbags.typesys.store import Typestore

    from values import Value


def serialise(store: Typestore, name: str, value: dict[str, Value], *, little_endian: bool) -> bytes:
    """Return the bytes of a message, including the encapsulation header."""
    return bytes(store.serialize_cdr(to_rosbags(store, name, value), name, little_endian=little_endian))


def deserialise(store: Typestore, name: str, data: bytes) -> dict[str, Value]:
    """Return the value that the bytes of a message contain."""
    return from_rosbags(store, name, store.deserialize_cdr(data, name))


def to_rosbags(store: Typestore, name: str, value: dict[str, Value]) -> object:
    """Convert a message to an object of rosbags."""
    fields = store.fielddefs[name][1]
    return store.types[name](*(field_to_rosbags(store, kind, value.get(field, 0)) for field, kind in fields))


def field_to_rosbags(store: Typestore, description: FieldDesc, value: Value) -> object:
    """Convert a field to an object of rosbags."""
    kind, rest = description
    if kind == Nodetype.NAME:
        return to_rosbags(store, rest, value)
    if kind == Nodetype.BASE:
        # In rosbags, a byte is signed.
        return value - 256 if rest[0] == "byte" and value > 127 else value
    element = rest[0]
    if element[0] == Nodetype.NAME:
        return [to_rosbags(store, element[1], each) for each in value]
    primitive = element[1][0]
    if primitive == "string":
        return value
    if primitive in OCTETS:
        return np.frombuffer(value, dtype=dtype(primitive))
    return np.array(value, dtype=dtype(primitive))


def from_rosbags(store: Typestore, name: str, message: object) -> dict[str, Value]:
    """Convert an object of rosbags to the value of a message."""
    fields = store.fielddefs[name][1]
    return {
        field: field_from_rosbags(store, kind, getattr(message, normalize_fieldname(field)))
        for field, kind in fields
        if field != PLACEHOLDER
    }


def field_from_rosbags(store: Typestore, description: FieldDesc, found: object) -> Value:
    """Convert an object of rosbags to the value of a field."""
    kind, rest = description
    if kind == Nodetype.NAME:
        return from_rosbags(store, rest, found)
    if kind == Nodetype.BASE:
        return found % 256 if rest[0] == "byte" else found
    element = rest[0]
    if element[0] == Nodetype.NAME:
        return [from_rosbags(store, element[1], each) for each in found]
    if element[1][0] == "string":
        return list(found)
    return found.tobytes() if element[1][0] in OCTETS else found.tolist()


def dtype(primitive: str) -> np.dtype:
    """Return the numpy type of a primitive."""
    return np.dtype({"byte": "int8"}.get(primitive, primitive))
