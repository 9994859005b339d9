"""Tests that Python code cannot crash, or access memory that it does not own: views stay valid after their sources are
gone."""

import gc
import os
import signal
import subprocess
import sys
import threading

import numpy
import pytest

import gantry
from gantry.messages.sensor_msgs.msg import Image
from gantry.messages.std_msgs.msg import UInt64


def run(script, *arguments, status=0):
    """Runs a Python program and returns its output."""
    command = [sys.executable, "-X", "faulthandler", "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stdout + done.stderr
    assert "panicked" not in done.stderr, done.stderr
    return done.stdout


def start(script, *arguments):
    command = [sys.executable, "-X", "faulthandler", "-c", script, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def image(value, size=100_000):
    return Image(data=numpy.full(size, value, numpy.uint8), encoding="x")


def test_views_outlive_sample_node_and_endpoints():
    node = gantry.Node("short")
    publisher, subscription = node.create_publisher(Image, "i"), node.create_subscription(Image, "i")
    publisher.publish(image(7))
    message = subscription.take()
    views = [message.data, message.data[5:], memoryview(message.data), message.data.reshape(10, -1), message.header]
    publisher.destroy()
    del message
    for value in range(50):
        again = node.create_publisher(Image, "i")
        again.publish(image(value))
        again.destroy()
    node.destroy_node()
    del node, publisher, subscription
    gc.collect()
    assert all((numpy.asarray(view) == 7).all() for view in views[:4])
    assert views[4].frame_id == ""


def test_a_held_view_is_never_overwritten(node):
    publisher, subscription = node.create_publisher(Image, "i", 1), node.create_subscription(Image, "i", 1)
    held = []
    for value in range(200):
        publisher.publish(image(value % 256, 5000))
        message = subscription.take()
        if value % 3 == 0:
            held.append((value % 256, message.data[10:20]))
    assert all((view == value).all() for value, view in held)


def test_views_and_loans_survive_the_end_of_the_interpreter():
    script = """
import atexit, threading, numpy, gantry
from gantry.messages.sensor_msgs.msg import Image
class Late:
    def __init__(self, view): self.view = view
    def __del__(self): print("late", int(self.view[-1]))
node = gantry.Node("ends")
publisher, subscription = node.create_publisher(Image, "ends"), node.create_subscription(Image, "ends")
publisher.publish(Image(data=bytes([3]) * 10000))
late = Late(subscription.take().data)
loan = publisher.loan(data=10000)
written = loan.data
written[:] = 5
cycle = [late, loan]
cycle.append(cycle)
def forever():
    waiting = gantry.Node("thread").create_subscription(Image, "nothing")
    while True: waiting.wait(0.05)
threading.Thread(target=forever, daemon=True).start()
threading.Thread(target=lambda: gantry.spin(node), daemon=True).start()
node.create_timer(0.001, lambda: None)
node.declare_parameter("x", 1)
print("end")
"""
    for _ in range(5):
        assert "end" in run(script)


def test_the_end_of_a_program_removes_its_files():
    script = "import gantry; node = gantry.Node('leaves'); p = node.create_publisher('std_msgs/msg/String', 'leaves')"
    run(script)
    with gantry.Node("observer") as observer:
        assert "leaves" not in observer.get_node_names()
        assert observer.count_publishers("leaves") == 0


def test_a_forked_child_reads_views_and_errors_and_does_not_crash(node):
    publisher, subscription = node.create_publisher(Image, "fork"), node.create_subscription(Image, "fork")
    publisher.publish(image(7))
    message = subscription.take()
    sample = message.data
    loan = publisher.loan(data=50_000)
    written = loan.data
    written[:] = 9
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert (sample == 7).all()
            written[:] = 1  # memory of its own
            assert written.sum() == 50_000
            for use in (lambda: publisher.publish(image(1)), subscription.take, lambda: node.create_publisher(Image, "x")):
                try:
                    use()
                    raise SystemExit(2)
                except gantry.GantryError as error:
                    assert "after fork" in str(error), error
            with gantry.Node("child") as own:
                first, second = own.create_publisher(UInt64, "own"), own.create_subscription(UInt64, "own")
                first.publish(UInt64(data=4))
                assert second.take().data == 4
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (written == 9).all()
    del written
    publisher.publish(loan)
    assert (subscription.take().data == 9).all() and (sample == 7).all()


PUBLISHER = """
import sys, numpy, gantry
from gantry.messages.sensor_msgs.msg import Image
node = gantry.Node("other")
publisher = node.create_publisher(Image, "killed", 10)
publisher.wait_for_subscriptions(1, 60)
value = 0
while True:
    value = (value + 1) % 256
    with publisher.loan(data=20000) as message:
        message.data[:] = value
    if value == 50:
        print("running", flush=True)
"""

SUBSCRIBER = """
import gantry
from gantry.messages.sensor_msgs.msg import Image
subscription = gantry.Node("other").create_subscription(Image, "killed", 10)
held, count = [], 0
for message in subscription:
    held = [*held[-5:], message.data]
    count += 1
    if count == 50:
        print("running", flush=True)
"""


def test_a_publisher_that_is_killed_leaves_its_samples(node):
    subscription = node.create_subscription(Image, "killed", 10)
    other = start(PUBLISHER)
    try:
        assert other.stdout.readline() == "running\n"
        assert subscription.wait(60)
        held = [subscription.take().data for _ in range(3)]
        values = [int(view[0]) for view in held]
        other.send_signal(signal.SIGKILL)
        other.wait()
        while subscription.take() is not None:
            pass
        assert all((view == value).all() for view, value in zip(held, values))
        assert node.create_publisher(Image, "killed").publish(image(1)) == 1
        assert subscription.wait(60) and subscription.take().data[0] == 1
    finally:
        other.kill()
        other.stdout.close()
        other.stdin.close()


def test_a_subscriber_that_is_killed_gives_its_memory_back(node):
    publisher = node.create_publisher(Image, "killed", 10, max_memory_bytes=2 << 20)
    for _ in range(3):
        other = start(SUBSCRIBER)
        reader = threading.Thread(target=other.stdout.readline)
        reader.start()
        try:
            assert publisher.wait_for_subscriptions(1, 60)
            while reader.is_alive():
                publisher.publish(image(3, 20_000))
                reader.join(0.001)
        finally:
            other.kill()
            other.wait()
            other.stdout.close()
            other.stdin.close()
        for _ in range(300):
            publisher.publish(image(4, 20_000))


def test_ctrl_c_ends_each_wait():
    for wait in (
        "subscription.wait()",
        "next(iter(subscription))",
        "gantry.spin(node)",
        "client.wait_for_service()",
        "node.create_publisher(Image, 'y').wait_for_subscriptions()",
        "node.wait_for_graph_change(); node.wait_for_graph_change()",
    ):
        script = f"""
import os, signal, threading, gantry
from gantry.messages.sensor_msgs.msg import Image
node = gantry.Node("waits")
subscription = node.create_subscription(Image, "nothing")
client = node.create_client("std_srvs/srv/SetBool", "nothing")
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted")
"""
        assert run(script) == "interrupted\n", wait


def test_sigterm_ends_a_spin_in_order():
    script = """
import os, signal, threading, gantry
gantry.init([])
gantry.on_shutdown(lambda: print("shutdown"))
node = gantry.Node("ends")
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
gantry.spin(node)
print("returned")
"""
    assert run(script) == "shutdown\nreturned\n"
