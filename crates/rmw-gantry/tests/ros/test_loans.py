"""Tests with the C program `loans.c` on rcl: loans of publishers and subscriptions, wait sets, and memory leaks."""

import subprocess
from pathlib import Path

from support import IS_GANTRY, ProgramTest


class Loans(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.compile("loans.c", "loans")

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
        """The leak sanitizer checks all allocations of the process, in all libraries."""
        if not IS_GANTRY:
            self.skipTest("the leaks of other middlewares are not looked for")
        try:
            program = self.compile("loans.c", "leaks", "-fsanitize=leak")
        except subprocess.CalledProcessError:
            self.skipTest("the C compiler has no leak sanitizer")
        options = {"LSAN_OPTIONS": "exitcode=23:fast_unwind_on_malloc=0"}
        control = self.run_program(program, "leak", **options)
        if control.returncode != 23:
            self.skipTest(f"the leak sanitizer finds nothing here: {control.stderr}")
        run = self.run_program(program, **options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
