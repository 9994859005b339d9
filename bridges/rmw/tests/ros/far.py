"""The helper processes of the tests, on either side of the bridge: `far.py ROLE ARGUMENT...`. Each prints `ready`,
obeys orders (lines on its standard input), and ends with the end of the input."""

import os
import sys
import threading
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[4] / "crates/rmw-gantry/tests/ros"))

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Image
from std_msgs.msg import String
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci


def say(text):
    # One write, because several threads print: `print` would write the end of the line separately.
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def orders(begin=lambda: None):
    """Prints `ready`, calls `begin` (which may start threads that print), and yields the orders."""
    say("ready")
    begin()
    for line in sys.stdin:
        yield line.rstrip("\n")


def latched(depth):
    return QoSProfile(depth=int(depth), durability=DurabilityPolicy.TRANSIENT_LOCAL)


def spin_in_background(node):
    executor = MultiThreadedExecutor()
    executor.add_node(node)

    def spin():
        try:
            executor.spin()
        except (ExternalShutdownException, RCLError):
            pass

    threading.Thread(target=spin, daemon=True).start()


def latched_talker(topic, depth):
    """An order is a text to publish."""
    node = Node("latched_talker", start_parameter_services=False)
    publisher = node.create_publisher(String, topic, latched(depth))
    for order in orders():
        publisher.publish(String(data=order))
        say("published")


def latched_listener(topic, depth):
    """Prints each message that it receives."""
    node = Node("latched_listener", start_parameter_services=False)
    node.create_subscription(String, topic, lambda message: say(f"heard {message.data}"), latched(depth))
    list(orders(lambda: spin_in_background(node)))


def camera(topic, size):
    """An order is a number: publishes an image of `size` bytes with this number in each byte."""
    node = Node("camera", start_parameter_services=False)
    publisher = node.create_publisher(Image, topic, 10)
    for order in orders():
        publisher.publish(Image(data=bytes([int(order)]) * int(size)))
        say("published")


def caller(name):
    """An order is yes or no, the value of the request. Prints the response of the server."""
    node = Node("caller", start_parameter_services=False)
    client = node.create_client(SetBool, name)
    spin_in_background(node)
    for order in orders():
        assert client.wait_for_service(30), f"no server of {name}"
        answer = client.call(SetBool.Request(data=order == "yes"))
        say(f"answer {answer.success} {answer.message}")


def slow_server(name, node_name):
    """Prints each request, and sends the response after an order."""
    node = Node(node_name, start_parameter_services=False)
    turn = threading.Semaphore(0)

    def answer(request, response):
        say(f"asked {request.data}")
        turn.acquire()
        response.success, response.message = request.data, node_name
        return response

    node.create_service(SetBool, name, answer)
    spin_in_background(node)
    for _ in orders():
        turn.release()


def action_server(name):
    """Executes goals, and sends feedback after each number."""
    node = Node("action_server", start_parameter_services=False)

    def execute(goal):
        numbers = [0, 1]
        while len(numbers) <= goal.request.order:
            numbers.append(numbers[-1] + numbers[-2])
            goal.publish_feedback(Fibonacci.Feedback(sequence=numbers))
        goal.succeed()
        return Fibonacci.Result(sequence=numbers)

    ActionServer(node, Fibonacci, name, execute)
    spin_in_background(node)
    list(orders())


def action_client(name):
    """An order is a number, the goal. Prints the result, and whether feedback arrived."""
    node = Node("action_client", start_parameter_services=False)
    client = ActionClient(node, Fibonacci, name)
    spin_in_background(node)
    for order in orders():
        feedback, handles = threading.Event(), []
        assert client.wait_for_server(30), f"no server of {name}"
        # Feedback of a goal that ends at once may arrive after the result. It is lost if its topic is not matched yet,
        # as in any DDS.
        while len(handles) < 30 and not feedback.wait(1 if handles else 0):
            goal = Fibonacci.Goal(order=int(order))
            handle = result_of(client.send_goal_async(goal, feedback_callback=lambda _: feedback.set()))
            handles.append(handle)
            result = result_of(handle.get_result_async())
        say(f"result {list(result.result.sequence)} status {result.status} feedback {feedback.is_set()}")


def result_of(future):
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(30), "no answer"
    return future.result()


def parameter_reader(node_name):
    """An order is the name of a parameter. Prints its value."""
    node = Node("parameter_reader", start_parameter_services=False)
    client = AsyncParameterClient(node, node_name)
    spin_in_background(node)
    for order in orders():
        assert client.wait_for_services(30), f"no parameters of {node_name}"
        value = result_of(client.get_parameters([order])).values[0]
        say(f"value {value.string_value or value.double_value}")


def observer():
    """An order is a list of nodes that must exist. Prints their part of the graph, like `ros2 node info` and `ros2
    topic list -v`."""
    node = Node("observer", start_parameter_services=False, enable_rosout=False)
    spin_in_background(node)
    for order in orders():
        wanted = set(order.split())
        for line in graph(node, wanted):
            say(line)
        say("end")


def graph(node, wanted):
    names = {f"{namespace.rstrip('/')}/{name}" for name, namespace in node.get_node_names_and_namespaces()}
    lines = [f"node {name}" for name in sorted(names & wanted)]
    for full in sorted(names & wanted):
        namespace, name = full.rsplit("/", 1)
        for kind, of in (("server", node.get_service_names_and_types_by_node), ("client", node.get_client_names_and_types_by_node)):
            lines += [f"{kind} {full} {service} {types}" for service, types in sorted(of(name, namespace or "/"))]
    # ROS 2 tools hide topics with an underscore before a part of the name. Bridges use such topics to show the origins
    # of nodes.
    is_shown = lambda topic: "/_gantry" not in topic
    for topic, types in sorted(found for found in node.get_topic_names_and_types() if is_shown(found[0])):
        for kind, of in (("publisher", node.get_publishers_info_by_topic), ("subscription", node.get_subscriptions_info_by_topic)):
            for info in of(topic):
                full = f"{info.node_namespace.rstrip('/')}/{info.node_name}"
                if full in wanted:
                    qos = info.qos_profile
                    lines.append(
                        f"{kind} {full} {topic} {types} {info.topic_type_hash} {qos.reliability.name} {qos.durability.name} "
                        f"{qos.deadline.nanoseconds} {qos.lifespan.nanoseconds} {qos.liveliness.name}"
                    )
    return sorted(lines)


ROLES = [
    latched_talker, latched_listener, camera, caller, slow_server, action_server, action_client, parameter_reader, observer,
]
role = next(role for role in ROLES if role.__name__ == sys.argv[1])
rclpy.init()
role(*sys.argv[2:])
os._exit(0)  # without waiting for threads that spin
