"""The Python types that Cyclone DDS's compiler idlc makes from Gantry's IDL."""

from __future__ import annotations

import importlib
import os
import re
import struct
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import cyclonedds
from cyclonedds.__idlc__ import idlpy_path
from cyclonedds.__library__ import library_path

from cyclone_codec import GREATEST_BOUND, Cyclone

if TYPE_CHECKING:
    from cyclonedds.idl import IdlStruct
    from rosbags.typesys.store import Typestore

ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(Path(library_path).parent)}
PT_LOAD, PT_DYNAMIC, PF_W = 1, 2, 2
PAGE = 4096


class Compiled(Cyclone):
    """The types of one IDL file. The names, order and types of their fields must agree with the definitions in a store."""

    NAME = "cyclonedds with the types of idlc"

    def __init__(self, store: Typestore, idlc: Path, idl: Path, directory: Path) -> None:
        """Compile the file to a Python package in the directory."""
        super().__init__(store)
        self.prefix = re.sub(r"\W", "_", idl.stem)
        code = directory / self.prefix
        code.mkdir(parents=True)
        # The Python module gets the name of the IDL file.
        (code / "types.idl").write_bytes(idl.read_bytes())
        # The Python generator writes to the working directory, even if -o states another one.
        command = [idlc, "-l", idlpy_path, "-p", f"py-root-prefix={self.prefix}", "types.idl"]
        subprocess.run(command, check=True, env=ENVIRONMENT, cwd=code)
        for path in code.rglob("*.py"):
            path.write_text(without_great_bounds(path.read_text()))
        sys.path.insert(0, str(directory.resolve()))
        importlib.import_module(self.prefix)

    def make(self, name: str, value: dict) -> IdlStruct:
        """Convert a message to cyclonedds' object. idlc adds an underscore to names that Python or idlc reserves."""
        of = self.class_of(name)
        named = {field.name.removeprefix("_"): field.name for field in fields(of)}
        described = self.store.fielddefs[name][1]
        if list(named) != [field for field, _ in described]:
            raise ValueError(f"{name} has other fields in the IDL: {list(named)}")
        return of(**{named[field]: self.make_field(kind, value.get(field, 0)) for field, kind in described})

    def class_of(self, name: str) -> type[IdlStruct]:
        """Return the class that idlc generated for a message."""
        package, namespace, short = name.split("/")
        return getattr(importlib.import_module(f"{self.prefix}.{package}.{namespace}.dds_"), f"{short}_")

    def again(self, name: str, data: bytes) -> bytes:
        """Read a message's bytes and write them again."""
        return self.class_of(name).deserialize(data).serialize(use_version_2=False)


def without_great_bounds(code: str) -> str:
    """Remove the bounds that cyclonedds refuses. This makes no difference on the wire, because bounds are not sent."""
    pattern = r"(sequence\[[^,\]]+), (\d+)\]"
    return re.sub(pattern, lambda found: found[0] if int(found[2]) <= GREATEST_BOUND else f"{found[1]}]", code)


def find_idlc(directory: Path) -> Path | None:
    """Return the path of the package's idlc or, if it does not start, of a repaired copy; None if both fail."""
    idlc = Path(cyclonedds.__file__).parent / ".libs" / "idlc"
    if not idlc.is_file() or runs(idlc):
        return idlc if idlc.is_file() else None
    copy = directory.resolve() / "idlc"
    copy.write_bytes(repaired(idlc.read_bytes()))
    copy.chmod(0o755)
    return copy if runs(copy) else None


def runs(idlc: Path) -> bool:
    """Return whether the program starts."""
    return subprocess.run([idlc, "-v"], capture_output=True, check=False, env=ENVIRONMENT).returncode == 0


def repaired(program: bytes) -> bytes:
    """Make the memory page with the end of `.dynamic` writable, because the program loader writes to it.

    The packaging of cyclonedds 11.0.1 extended `.dynamic` into a page that is loaded read-only, so idlc crashes
    (SIGSEGV).
    """
    data = bytearray(program)
    (start,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    headers = {at: struct.unpack_from("<IIQQQQQQ", data, at) for at in range(start, start + size * count, size)}
    end = next(address + length for kind, _, _, address, _, _, length, _ in headers.values() if kind == PT_DYNAMIC)
    for at, (kind, flags, _, address, _, _, length, _) in headers.items():
        if kind == PT_LOAD and address // PAGE * PAGE < end <= address + length:
            struct.pack_into("<I", data, at + 4, flags | PF_W)
    return bytes(data)
