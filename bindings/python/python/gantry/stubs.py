"""Writes type stubs of the standard messages for type checkers: `python -m gantry.stubs [FOLDER]`.

By default, the stubs are written into the installed package, where mypy and Pyright look for them.
"""

import sys
from pathlib import Path

from . import messages

_HEAD = """from typing import Any

import numpy as np
from numpy.typing import NDArray

import gantry.messages
"""
_EXTRAS = {
    "sensor_msgs/msg/Image": [
        "def as_array(self) -> NDArray[Any]: ...",
        "@classmethod",
        "def from_array(cls, array: Any, encoding: str | None = None, header: Any = None) -> Image: ...",
    ],
    "sensor_msgs/msg/CompressedImage": ["def as_array(self) -> NDArray[np.uint8]: ..."],
    "sensor_msgs/msg/PointCloud2": [
        "def as_array(self) -> NDArray[Any]: ...",
        "def point_dtype(self) -> np.dtype[Any]: ...",
        "@classmethod",
        "def from_array(cls, array: Any, header: Any = None) -> PointCloud2: ...",
    ],
}
_NUMBERS = {"b1": "np.bool_", "u": "np.uint", "i": "np.int", "f": "np.float"}


def _type(field):
    if field.nested is not None:
        package, kind, name = field.nested.split("/")
        single = f"gantry.messages.{package}.{kind}.{name}"
        return f"list[{single}]" if field.is_list else single
    if field.code is None:
        return "list[str]" if field.is_list else "str"
    code = field.code[1:]
    if field.is_list:
        bits = 8 * int(code[1])
        return f"NDArray[{_NUMBERS['b1'] if code == 'b1' else _NUMBERS[code[0]] + str(bits)}]"
    return {"b": "bool", "f": "float"}.get(code[0], "int")


def _class(cls, name, indent=""):
    lines = [f"{indent}class {name}(gantry.messages.Message):"]
    for constant, value in cls._schema.constants():
        lines.append(f"{indent}    {constant}: {type(value).__name__}")
    lines += [f"{indent}    {field.name}: {_type(field)}" for field in cls._fields]
    arguments = "".join(f", {field.name}: Any = ..." for field in cls._fields)
    lines.append(f"{indent}    def __init__(self{', *' if arguments else ''}{arguments}) -> None: ...")
    lines += [f"{indent}    {line}" for line in _EXTRAS.get(cls._schema.name, [])]
    return lines


def _service(srv, name):
    lines = [f"class {name}(gantry.messages.Service):"]
    for part in ("Request", "Response"):
        lines += [*_class(getattr(srv, part), part, "    "), ""]
    return lines


def _imports(classes):
    nested = {field.nested for cls in classes for field in cls._fields if field.nested is not None}
    modules = {".".join(name.split("/")[:2]) for name in nested}
    return [f"import gantry.messages.{module}" for module in sorted(modules)]


def write(folder):
    """Writes the stubs below a folder, and returns the number of files."""
    modules = {}
    for name in messages.names():
        package, kind, simple = name.split("/")
        modules.setdefault((package, kind), []).append((simple, messages.get(name)))
    for (package, kind), members in modules.items():
        target = Path(folder) / package
        target.mkdir(parents=True, exist_ok=True)
        parts = [part for other, part in modules if other == package]
        (target / "__init__.pyi").write_text("".join(f"from . import {part} as {part}\n" for part in parts))
        parts = [one for _, cls in members for one in ([cls] if kind == "msg" else [cls.Request, cls.Response])]
        lines = [_HEAD, *_imports(parts), ""]
        for simple, cls in members:
            lines += [*(_class(cls, simple) if kind == "msg" else _service(cls, simple)), ""]
        (target / f"{kind}.pyi").write_text("\n".join(lines))
    return len(modules)


def main():
    """The entry point of the command."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(messages.__file__).parent
    print(f"{write(folder)} stubs in {folder}")


if __name__ == "__main__":
    main()
