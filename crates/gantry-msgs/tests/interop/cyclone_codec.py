"""Converts values to CDR with Cyclone DDS, which is a second implementation with types from the same definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclonedds.idl import Endianness, make_idl_struct, types
from rosbags.interfaces import Nodetype

if TYPE_CHECKING:
    from cyclonedds.idl import IdlStruct
    from rosbags.interfaces.typing import FieldDesc
    from rosbags.typesys.store import Typestore

    from values import Value

GREATEST_BOUND = 65535
"""The greatest bound of a sequence in cyclonedds. A sequence with a greater one is declared without a bound, which is the same on the wire."""


class Cyclone:
    """The cyclonedds types of a store of definitions. Each is made at its first use."""

    NAME = "cyclonedds"

    def __init__(self, store: Typestore) -> None:
        """Make no type yet."""
        self.store = store
        self.classes: dict[str, type[IdlStruct]] = {}

    def serialise(self, name: str, value: dict[str, Value], *, little_endian: bool) -> bytes:
        """Return a message's bytes as XCDR1, encapsulation header included."""
        order = Endianness.Little if little_endian else Endianness.Big
        return self.make(name, value).serialize(endianness=order, use_version_2=False)

    def make(self, name: str, value: dict[str, Value]) -> IdlStruct:
        """Convert a message to an object of cyclonedds."""
        fields = self.store.fielddefs[name][1]
        return self.class_of(name)(**{field: self.make_field(kind, value.get(field, 0)) for field, kind in fields})

    def make_field(self, description: FieldDesc, value: Value) -> object:
        """Convert a field to an object of cyclonedds."""
        kind, rest = description
        if kind == Nodetype.NAME:
            return self.make(rest, value)
        if kind != Nodetype.BASE and rest[0][0] == Nodetype.NAME:
            return [self.make(rest[0][1], each) for each in value]
        return value

    def class_of(self, name: str) -> type[IdlStruct]:
        """Return the cyclonedds class of a message."""
        if name not in self.classes:
            fields = {field: self.type_of(kind) for field, kind in self.store.fielddefs[name][1]}
            self.classes[name] = make_idl_struct(name.replace("/", "__"), name.replace("/", "."), fields)
        return self.classes[name]

    def type_of(self, description: FieldDesc) -> object:
        """Return the IDL type of a field."""
        kind, rest = description
        if kind == Nodetype.NAME:
            return self.class_of(rest)
        if kind == Nodetype.BASE:
            return self.scalar_type(*rest)
        element, size = rest
        if kind == Nodetype.ARRAY:
            return types.array[self.type_of(element), size]
        return types.sequence[(self.type_of(element), size) if 0 < size <= GREATEST_BOUND else self.type_of(element)]

    @staticmethod
    def scalar_type(kind: str, bound: int) -> object:
        """Return the IDL type of a number or text."""
        if kind == "string":
            return types.bounded_str[bound] if bound else str
        return bool if kind == "bool" else getattr(types, kind)
