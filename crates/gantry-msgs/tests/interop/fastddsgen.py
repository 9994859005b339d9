"""Fast DDS's types as its compiler fastddsgen makes them of Gantry's IDL, in C++ with Fast CDR 1, as Debian 12 has them."""

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
    """Return a tool that is missing here, if any."""
    for tool in ("fastddsgen", "java", "g++"):
        if shutil.which(tool) is None:
            return tool
    macros = subprocess.run([*MACROS, "-include", "fastcdr/config.h"], capture_output=True, text=True, check=False).stdout
    # The code that later versions of fastddsgen generate has other functions.
    return None if "#define FASTCDR_VERSION_MAJOR 1\n" in macros else "Fast CDR 1"


class FastProgram:
    """The program of one root that reads and writes all messages of a directory. g++ is still at work when this is made."""

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
        """Read and write the messages."""
        if self.compiler.wait() != 0:
            raise RuntimeError(f"g++ failed in {self.directory}")
        subprocess.run([(self.directory / "program").resolve(), messages], check=True)


def line_of(name: str) -> str:
    """Return the line of a type in the list of types."""
    package, namespace, short = name.split("/")
    return f"CHECK({package}__{namespace}__{short}, {package}::{namespace}::dds_::{short}_)\n"
