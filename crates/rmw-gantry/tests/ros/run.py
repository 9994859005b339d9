"""Runs the tests in this folder: `run.py [-k PATTERN]...`.

The middleware is the library in `LD_PRELOAD`, or else the default of the wheels. `GANTRY_COMMAND` is the path of the
command `gantry`. A test that does not end is stopped after two minutes, with the stacks of all threads.
"""

import argparse
import faulthandler
import sys
import time
import unittest
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # of lark, which rclpy imports

import rclpy

from support import HERE

LIMIT_S = 120


class Result(unittest.TextTestResult):
    """Prints a line with the time of each test. If a test does not end, prints the stacks of all threads."""

    def startTest(self, test):
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)
        self.began = time.monotonic()
        unittest.TestResult.startTest(self, test)

    def stopTest(self, test):
        faulthandler.cancel_dump_traceback_later()
        super().stopTest(test)

    def line(self, word, test):
        print(f"{word:<8} {time.monotonic() - self.began:5.1f} s  {test.id()}", flush=True)

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        self.line("ok", test)

    def addFailure(self, test, error):
        unittest.TestResult.addFailure(self, test, error)
        self.line("FAILED", test)

    def addError(self, test, error):
        unittest.TestResult.addError(self, test, error)
        self.line("FAILED", test)

    def addSkip(self, test, reason):
        unittest.TestResult.addSkip(self, test, reason)
        print(f"SKIPPED: rmw: {test.id()}: {reason}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", action="append", metavar="PATTERN", help="only tests whose names have this in them")
    arguments = parser.parse_args()
    loader = unittest.TestLoader()
    if arguments.k:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in arguments.k]
    print(f"the middleware is {rclpy.get_rmw_implementation_identifier()}", flush=True)
    tests = loader.discover(str(HERE), top_level_dir=str(HERE))
    runner = unittest.TextTestRunner(resultclass=Result, stream=sys.stdout, warnings="ignore")
    sys.exit(not runner.run(tests).wasSuccessful())


main()
