"""The helper processes of the tests: `peer.py ROLE ARGUMENT...`. Each prints `ready`, obeys orders (lines on its
standard input), and ends with the end of the input."""

import hashlib
import signal
import sys
import threading

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile
from messages import message_class
from std_msgs.msg import String
from std_srvs.srv import SetBool


def say(text):
    # One write, because several threads print: `print` would write the end of the line separately.
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def orders():
    say("ready")
    for line in sys.stdin:
        yield line.rstrip("\n")


def spin_in_background(node):
    """Spins a node on another thread until the input ends."""
    def spin():
        try:
            rclpy.spin(node)
        except (ExternalShutdownException, RCLError):
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    return thread


def talker(topic, depth):
    """An order is `talk FIRST COUNT`: publishes these numbers, as soon as a subscription is matched."""
    node = Node("talker", start_parameter_services=False)
    publisher = node.create_publisher(String, topic, int(depth))
    for order in orders():
        _, first, count = order.split()
        while publisher.get_subscription_count() == 0:
            rclpy.spin_once(node, timeout_sec=0.01)
        for number in range(int(first), int(first) + int(count)):
            publisher.publish(String(data=str(number)))
        say("talked")


def listener(topic, depth):
    """Prints each message that it receives."""
    node = Node("listener", start_parameter_services=False)
    node.create_subscription(String, topic, lambda message: say(f"heard {message.data}"), int(depth))
    thread = spin_in_background(node)
    list(orders())
    rclpy.shutdown()
    thread.join()


def echo(package, *names):
    """For each NAME, republishes the messages of the topic NAME on NAME_back. NAME is also the message type."""
    node = Node("echo", start_parameter_services=False)
    for name in names:
        kind = message_class(package, name)
        publisher = node.create_publisher(kind, f"{name}_back", 10)
        node.create_subscription(kind, name, publisher.publish, 10)
    thread = spin_in_background(node)
    list(orders())
    rclpy.shutdown()
    thread.join()


def checksum(package, name, topic):
    """Prints the length and the checksum of the field `data` of each message."""
    node = Node("checksum", start_parameter_services=False)

    def heard(message):
        say(f"{len(message.data)} {hashlib.sha256(bytes(message.data)).hexdigest()}")

    node.create_subscription(message_class(package, name), topic, heard, QoSProfile(depth=10))
    thread = spin_in_background(node)
    list(orders())
    rclpy.shutdown()
    thread.join()


def server(name):
    """Prints each request, and returns its value in the response."""
    node = Node("server", start_parameter_services=False)

    def answer(request, response):
        response.success, response.message = request.data, f"Größe {request.data}"
        return response

    node.create_service(SetBool, name, answer)
    thread = spin_in_background(node)
    list(orders())
    rclpy.shutdown()
    thread.join()


def robot():
    """A node with parameters."""
    node = Node("robot")
    node.declare_parameter("speed", 1.5)
    node.declare_parameter("name", "Günther")
    node.declare_parameter("joints", ["a", "b"])
    thread = spin_in_background(node)
    list(orders())
    rclpy.shutdown()
    thread.join()


def spinner():
    """Spins until a signal arrives, and prints how the spin ended."""
    node = Node("spinner")
    # The timer's callback prints `ready`, so the executor spins already when the signal arrives.
    timer = node.create_timer(0.0, lambda: (timer.cancel(), say("ready")))
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        say("interrupted")
    # RCLError means that the context ended before rclpy created the wait set.
    except (ExternalShutdownException, RCLError):
        say("shut down")
    node.destroy_node()
    rclpy.try_shutdown()
    say("ended")


def waker(signal_number):
    """Handles a signal itself, which must not end a wait. Prints the numbers of calls of its signal handler and of its
    timer."""
    node, signals, ticks = Node("waker"), [], []
    signal.signal(int(signal_number), lambda *_: signals.append(1))
    node.create_timer(0.01, lambda: ticks.append(1))
    say("ready")
    while not signals:
        rclpy.spin_once(node, timeout_sec=1)
    before = len(ticks)
    while len(ticks) < before + 3:
        rclpy.spin_once(node, timeout_sec=1)
    say("ticks")


ROLES = [talker, listener, echo, checksum, server, robot, spinner, waker]
role = next(role for role in ROLES if role.__name__ == sys.argv[1])
rclpy.init()
role(*sys.argv[2:])
