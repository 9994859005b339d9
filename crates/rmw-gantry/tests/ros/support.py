"""Helpers for all tests: a ROS context for each test, child processes, and waits for conditions."""

import atexit
import os
import queue
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import unittest
from pathlib import Path

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

HERE = Path(__file__).resolve().parent
# The time limit of every wait in seconds. Only a hang exceeds it.
PATIENCE = 30
IS_GANTRY = rclpy.get_rmw_implementation_identifier() == "rmw_gantry"
# The path of the command `gantry`.
GANTRY = os.environ.get("GANTRY_COMMAND")

SHM_DIR = tempfile.mkdtemp(prefix="rmw-gantry-", dir="/dev/shm")
os.environ["GANTRY_SHM_DIR"] = SHM_DIR
atexit.register(shutil.rmtree, SHM_DIR, ignore_errors=True)

# Each test has another domain. The process id makes it unlikely that two runs over another middleware share one.
domains = iter((os.getpid() * 7 + number) % 100 + 1 for number in range(1_000_000))


def without_preload():
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


class Peer:
    """A process that obeys lines on its standard input, and whose output the test reads line by line."""

    def __init__(self, arguments, **options):
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **options
        )
        self.arguments, self.lines = arguments, queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def line(self):
        """Returns the next line of the output, or None at its end."""
        try:
            return self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"{self.arguments} says nothing") from None

    def expect(self, text):
        line = self.line()
        assert line == text, f"{self.arguments} said {line!r}, not {text!r}"

    def until(self, beginning):
        """Returns the next line that starts with `beginning`."""
        while True:
            line = self.line()
            assert line is not None, f"{self.arguments} ended before it said {beginning!r}"
            if line.startswith(beginning):
                return line

    def order(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def signal(self, number):
        self.process.send_signal(number)

    def status(self):
        """Waits until the process ends, and returns its exit status."""
        return self.process.wait(PATIENCE)

    def end(self):
        """Closes the standard input of the process, which then has to end with status 0."""
        self.process.stdin.close()
        assert self.status() == 0, f"{self.arguments} ended with status {self.process.returncode}"

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def close(self):
        """Kills the process if it still runs."""
        self.kill()
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stdin.close()


class RosTest(unittest.TestCase):
    """A test with a domain, a context, an executor, and child processes that are killed if the test fails."""

    def setUp(self):
        self.domain = next(domains)
        os.environ["ROS_DOMAIN_ID"] = str(self.domain)
        self.context = Context()
        rclpy.init(context=self.context, domain_id=self.domain)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.nodes, self.peers = [], []
        self.addCleanup(self.close)

    def close(self):
        for peer in self.peers:
            peer.close()
        self.executor.shutdown(timeout_sec=PATIENCE)
        for node in self.nodes:
            node.destroy_node()
        if self.context.ok():
            rclpy.shutdown(context=self.context)

    def node(self, name="node", **options):
        options.setdefault("start_parameter_services", False)
        node = Node(name, context=self.context, enable_rosout=False, **options)
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def peer(self, role, *arguments, **options):
        """Starts a process with a role from `peer.py`, and waits until it is ready."""
        arguments = [str(argument) for argument in arguments]
        peer = self.process([sys.executable, str(HERE / "peer.py"), role, *arguments], **options)
        peer.expect("ready")
        return peer

    def process(self, arguments, **options):
        peer = Peer(arguments, **options)
        self.peers.append(peer)
        return peer

    def gantry(self, *arguments):
        """Starts the command `gantry`, which does not use ROS 2."""
        return self.process([GANTRY, *arguments], env=without_preload())

    def gantry_output(self, *arguments):
        peer = self.gantry(*arguments)
        lines = list(iter(peer.line, None))
        self.assertEqual(peer.status(), 0, lines)
        return lines

    def spin_until(self, condition, what="it"):
        """Spins until `condition()` is true."""
        limit = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), limit, f"{what} did not happen in {PATIENCE} s")
            self.executor.spin_once(timeout_sec=0.02)

    def result(self, future):
        self.spin_until(future.done, "the answer")
        return future.result()

    def match(self, publisher, subscriptions=1):
        self.spin_until(lambda: publisher.get_subscription_count() == subscriptions, f"{subscriptions} matched")


PREFIX = Path(sys.prefix)
LIBRARIES = [
    "rcl", "rmw", "rcutils", "rosidl_runtime_c", "std_msgs__rosidl_typesupport_c", "std_msgs__rosidl_generator_c",
    "geometry_msgs__rosidl_typesupport_c", "geometry_msgs__rosidl_generator_c", "rmw_fastrtps_cpp",
]
# The message libraries in the wheels have undefined symbols, which libpython defines.
PYTHON = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))


class ProgramTest(RosTest):
    """Tests with C programs on rcl, which are compiled here."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(dir=SHM_DIR)
        cls.addClassCleanup(cls.folder.cleanup)
        if not shutil.which("cc"):
            raise unittest.SkipTest("there is no C compiler")
        if not PYTHON.exists():
            raise unittest.SkipTest(f"there is no {PYTHON}: this Python has no shared library")

    @classmethod
    def compile(cls, source, name, *options):
        program = Path(cls.folder.name, name)
        command = ["cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", *options, str(HERE / source)]
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
