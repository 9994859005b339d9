"""The C++ types that fastddsgen makes from Gantry's IDL. They use Fast CDR 1, the version in Debian 12."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from definitions import Root

PROGRAM = Path(__file__).with_name("fast_cdr.cpp")
MACROS = ("g++", "-x", "c++", "-E", "-dM", "/dev/null")
BOUNDED_STRINGS = "fastrtps/utils/fixed_size_string.hpp"
"""A header of Fast DDS that the generated code includes. Only bounded strings need its content."""


def missing() -> str | None:
    """Return the name of a tool that is missing on this machine, or None."""
    for tool in ("fastddsgen", "java", "g++"):
        if shutil.which(tool) is None:
            return tool
    macros = subprocess.run([*MACROS, "-include", "fastcdr/config.h"], capture_output=True, text=True, check=False).stdout
    # Later versions of fastddsgen generate code with other functions, so version 1 of Fast CDR is required.
    return None if "#define FASTCDR_VERSION_MAJOR 1\n" in macros else "Fast CDR 1"


class FastProgram:
    """The program for one root, which reads and writes all messages in a directory. `__init__` only starts g++."""

    def __init__(self, root: Root, idl: Path, directory: Path) -> None:
        """Generate the code of the types, and start g++."""
        self.directory = directory
        header = directory / BOUNDED_STRINGS
        header.parent.mkdir(parents=True)
        header.touch()
        shutil.copy(idl, directory / "types.idl")
        subprocess.run(["fastddsgen", "types.idl"], check=True, cwd=directory, stderr=subprocess.STDOUT)
        (directory / "types.inc").write_text("".join(map(line_of, [*root.messages, *root.not_covered])))
        command = ["g++", "-std=c++17", "-w", "-I.", "-o", "program", PROGRAM.resolve(), "types.cxx", "-lfastcdr"]
        self.compiler = subprocess.Popen(command, cwd=directory)

    def run(self, messages: Path) -> None:
        """Wait for g++, and run the program, which reads and writes the messages."""
        if self.compiler.wait() != 0:
            raise RuntimeError(f"g++ failed in {self.directory}")
        subprocess.run([(self.directory / "program").resolve(), messages], check=True)


def line_of(name: str) -> str:
    """Return the line for a type in `types.inc`."""
    package, namespace, short = name.split("/")
    return f"CHECK({package}__{namespace}__{short}, {package}::{namespace}::dds_::{short}_)\n"
