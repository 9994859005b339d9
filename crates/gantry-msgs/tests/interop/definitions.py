"""Reads the definitions of a root (a folder of packages) with rosbags, and computes their hashes with rosbags.

Types that rosbags knows are taken from rosbags, and Gantry's definitions must agree with these. All other types are
registered from Gantry's definitions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

if TYPE_CHECKING:
    from pathlib import Path

    from rosbags.interfaces.typing import FieldDesc, Typesdict
    from rosbags.typesys.store import Typestore

PLACEHOLDER = "structure_needs_at_least_one_member"
"""The only field of a message without fields on the wire."""


@dataclass
class Root:
    """A root (a folder of packages): its types in a separate store, and the types that are not supported."""

    name: str
    store: Typestore
    messages: list[str] = field(default_factory=list)
    services: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    not_covered: dict[str, str] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)

    def hash_of(self, name: str) -> str:
        """Return a message's RIHS01 hash."""
        return self.store.hash_rihs01(name)

    def hash_of_service(self, name: str) -> str:
        """Return a service's RIHS01 hash. As in rosidl, it is the hash of a structure of request, response and event."""
        package, _, short = name.split("/")
        request, response, event = (f"{package}/srv/{short}_{part}" for part in ("Request", "Response", "Event"))
        self.store.fielddefs[event] = (
            [],
            [
                ("info", (Nodetype.NAME, "service_msgs/msg/ServiceEventInfo")),
                ("request", (Nodetype.SEQUENCE, ((Nodetype.NAME, request), 1))),
                ("response", (Nodetype.SEQUENCE, ((Nodetype.NAME, response), 1))),
            ],
        )
        parts = {"request_message": request, "response_message": response, "event_message": event}
        self.store.fielddefs[name] = ([], [(part, (Nodetype.NAME, of)) for part, of in parts.items()])
        return self.store.hash_rihs01(name)


def read_root(folder: Path) -> Root:
    """Read the definitions in `<folder>/<package>/{msg,srv}/*`, and compare them with the types of rosbags."""
    root = Root(folder.name, get_typestore(Stores.EMPTY))
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*/msg/*.msg")):
        texts[f"{path.parts[-3]}/msg/{path.stem}"] = path.read_text()
    for path in sorted(folder.glob("*/srv/*.srv")):
        service = f"{path.parts[-3]}/srv/{path.stem}"
        request, response = re.split(r"^---\s*$", path.read_text(), flags=re.MULTILINE)
        texts |= {f"{service}_Request": request, f"{service}_Response": response}
        root.services.append(service)

    types: Typesdict = {}
    for name, text in texts.items():
        if has_wide_string(text):
            root.not_covered[name] = "rosbags and cyclonedds do not support wide strings; only the types of its IDL are compared"
        else:
            types |= parse(name, text)
    # The store is separate, so that only the types of rosbags that are also in this folder count as known.
    reference = get_typestore(Stores.ROS2_JAZZY)
    register(root.store, {name: as_rosidl(reference.fielddefs[name]) for name in types if name in reference.fielddefs})
    root.known = list(root.store.fielddefs)
    ours = get_typestore(Stores.EMPTY)
    register(ours, types)
    for name in root.known:
        for theirs, written in different_lines(root.store, ours, name):
            root.disagreements.append(f"{name}: rosbags has `{theirs}`, our definition `{written}`")
    register(root.store, {name: definition for name, definition in types.items() if name not in root.known})
    root.messages = sorted(types)
    return root


def parse(name: str, text: str) -> Typesdict:
    """Parse a definition, with or without its nested types after it."""
    # rosbags supports only the namespace msg, and resolves short names wrongly in other namespaces.
    package, _, short = name.split("/")
    types = get_types_from_msg(text, f"{package}/msg/{short}")
    types[name] = types.pop(f"{package}/msg/{short}")
    return {each: as_rosidl(definition) for each, definition in types.items()}


def register(store: Typestore, types: Typesdict) -> None:
    """Register definitions, if there are any."""
    if types:
        store.register(types)


def different_lines(expected: Typestore, found: Typestore, name: str) -> list[tuple[str, str]]:
    """Return the constants and fields of a type that differ between two stores."""
    pairs = zip_longest(lines(expected, name), lines(found, name), fillvalue="nothing")
    return [pair for pair in pairs if pair[0] != pair[1]]


def lines(store: Typestore, name: str) -> list[str]:
    """Return the constants and fields of a type in .msg syntax, in order."""
    constants, fields = store.fielddefs[name]
    written = [f"{kind} {constant} = {value}" for constant, kind, value in constants]
    return written + [f"{written_type(kind)} {field}" for field, kind in fields]


def written_type(description: FieldDesc) -> str:
    """Return a type in .msg syntax."""
    kind, rest = description
    if kind == Nodetype.NAME:
        return rest
    if kind == Nodetype.BASE:
        return f"{rest[0]}<={rest[1]}" if rest[1] else rest[0]
    bound = "<=" if kind == Nodetype.SEQUENCE else ""
    return f"{written_type(rest[0])}[{f'{bound}{rest[1]}' if rest[1] else ''}]"


def as_rosidl(definition: tuple) -> tuple:
    """Replace each `char` by `uint8`, as rosidl does when it reads .msg files.

    In rosbags, `char` is a separate type. This makes no difference on the wire, but the hash differs from ROS 2's hash,
    which for service_msgs/msg/ServiceEventInfo is published as RIHS01_41bcbbe0….
    """
    constants, fields = definition
    return (
        [(name, "uint8" if kind == "char" else kind, value) for name, kind, value in constants],
        [(name, without_char(description)) for name, description in fields],
    )


def without_char(description: FieldDesc) -> FieldDesc:
    """Replace `char` in the description of a field."""
    kind, rest = description
    if kind == Nodetype.BASE:
        return (kind, ("uint8", 0)) if rest[0] == "char" else description
    if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        return (kind, (without_char(rest[0]), rest[1]))
    return description


def has_wide_string(text: str) -> bool:
    """Return whether a definition has a wide string. The parser of rosbags takes `wstring` for the name of a message."""
    return re.search(r"^\s*wstring\b", text, flags=re.MULTILINE) is not None
