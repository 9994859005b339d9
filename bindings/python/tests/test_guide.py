"""Runs the programs of the guide."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gantry

_GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "python.md"
_PROGRAMS = re.findall(r"^```python\n(.*?)^```", _GUIDE.read_text(), re.DOTALL | re.MULTILINE) if _GUIDE.exists() else []


@pytest.mark.parametrize("index", range(len(_PROGRAMS)))
def test_a_program_of_the_guide_runs(index, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(gantry.__file__).parents[1])}
    command = [sys.executable, "-c", _PROGRAMS[index]]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
