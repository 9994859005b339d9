"""The program `loans.c` on rcl: loans on both sides, wait sets, and what it leaves in memory."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

from support import HERE, IS_GANTRY, PATIENCE, SHM_DIR, RosTest, without_preload

PREFIX = Path(sys.prefix)
LIBRARIES = [
    "rcl", "rmw", "rcutils", "rosidl_runtime_c", "std_msgs__rosidl_typesupport_c", "std_msgs__rosidl_generator_c",
    "geometry_msgs__rosidl_typesupport_c", "geometry_msgs__rosidl_generator_c", "rmw_fastrtps_cpp",
]
# The message libraries of the wheels have unresolved symbols of Python.
PYTHON = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))


class Loans(RosTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(dir=SHM_DIR)
        cls.addClassCleanup(cls.folder.cleanup)
        if not shutil.which("cc"):
            raise unittest.SkipTest("there is no C compiler")
        if not PYTHON.exists():
            raise unittest.SkipTest(f"there is no {PYTHON}: this Python has no shared library")
        cls.program = cls.compile("loans")

    @classmethod
    def compile(cls, name, *options):
        program = Path(cls.folder.name, name)
        command = ["cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", *options, str(HERE / "loans.c")]
        for directory in (PREFIX / "include").iterdir():
            command += ["-isystem", str(directory)]
        command += ["-o", str(program), f"-L{PREFIX / 'lib'}", "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
        command += [f"-l{library}" for library in LIBRARIES]
        subprocess.run(command, check=True, env=without_preload(), capture_output=bool(options))
        return program

    def run_program(self, program, *arguments, **environment):
        preload = f"{PYTHON} {os.environ.get('LD_PRELOAD', '')}"
        environment = os.environ | {"LD_PRELOAD": preload, "ROS_DISABLE_LOANED_MESSAGES": "0"} | environment
        return subprocess.run(
            [str(program), *arguments], env=environment, capture_output=True, text=True, timeout=2 * PATIENCE
        )

    def test_loans_are_shared_memory_on_both_sides(self):
        run = self.run_program(self.program, GANTRY_SHM_DIR=self.folder.name)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        left = [str(path) for path in Path(self.folder.name).glob("gantry-*/**/*") if path.is_file()]
        self.assertEqual(left, [], "the files of a program that ended in order")
        lines = run.stdout.splitlines()
        self.assertEqual(len(lines), 9, lines)
        if IS_GANTRY:
            self.assertEqual(lines[:2], ["rmw_gantry", "loaned 200 poses"])

    def test_nothing_leaks(self):
        """The leak sanitizer looks at every allocation of the process, in all libraries."""
        if not IS_GANTRY:
            self.skipTest("the leaks of other middlewares are not looked for")
        try:
            program = self.compile("leaks", "-fsanitize=leak")
        except subprocess.CalledProcessError:
            self.skipTest("the C compiler has no leak sanitizer")
        options = {"LSAN_OPTIONS": "exitcode=23:fast_unwind_on_malloc=0"}
        control = self.run_program(program, "leak", **options)
        if control.returncode != 23:
            self.skipTest(f"the leak sanitizer finds nothing here: {control.stderr}")
        run = self.run_program(program, **options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
