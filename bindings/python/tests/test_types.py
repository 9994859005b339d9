"""Tests that the stubs agree with the package, and that a type checker accepts them."""

import ast
import importlib.util
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gantry
from gantry import stubs

_PACKAGE = Path(gantry.__file__).parent


def _public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_stub_has_each_public_name_and_method():
    tree = ast.parse((_PACKAGE / "__init__.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    here = {name: value for name, value in vars(gantry).items() if not name.startswith("_")}
    kinds = {name: value for name, value in here.items() if inspect.isclass(value) and name != "Message"}
    assert set(kinds) == _public(classes)
    assert {name for name, value in here.items() if inspect.isfunction(value)} == functions
    for name, cls in kinds.items():
        if not cls.__module__.startswith("gantry.") or name == "GantryError":
            continue
        methods = _public(key for key, value in vars(cls).items() if inspect.isfunction(value))
        known = {node.name for node in classes[name].body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        assert methods <= known, name
        assert {one for one in _public(known) if not hasattr(cls, one)} == set(), name


_PROGRAM = """
import gantry
from gantry.messages.sensor_msgs.msg import Image
from gantry.messages.std_srvs.srv import SetBool

node = gantry.Node("typed")
subscription = node.create_subscription(Image, "image")
for image in subscription:
    reveal_type(image)
    reveal_type(image.header.stamp.sec)
    reveal_type(image.data)
request = SetBool.Request(data=True)
reveal_type(request.data)
image.wdith
"""


def test_a_type_checker_knows_messages(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    shutil.copytree(_PACKAGE, tmp_path / "gantry", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    assert stubs.write(tmp_path / "gantry" / "messages") > 30
    (tmp_path / "program.py").write_text(_PROGRAM)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--python-executable", sys.executable, "program.py"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    notes = [line.split(": ", 1)[1] for line in checked.stdout.splitlines()]
    assert notes == [
        'note: Revealed type is "gantry.messages.sensor_msgs.msg.Image"',
        'note: Revealed type is "int"',
        notes[2],
        'note: Revealed type is "bool"',
        'error: "Image" has no attribute "wdith"; maybe "width"?  [attr-defined]',
    ], checked.stdout + checked.stderr
    assert "uint8" in notes[2] or "unsignedinteger" in notes[2]
