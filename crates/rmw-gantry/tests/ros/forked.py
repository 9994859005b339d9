"""A program that uses ROS 2 for a moment (`forked.py once`), or forks first and then uses ROS 2 in both processes
(`forked.py both`)."""

import os
import sys

import rclpy
from rclpy.node import Node
from std_msgs.msg import String


def talk():
    rclpy.init()
    node = Node("parent")
    publisher = node.create_publisher(String, "forked", 1)
    while publisher.get_subscription_count() == 0:
        rclpy.spin_once(node, timeout_sec=0.01)
    publisher.publish(String(data="parent"))
    return node


def listen():
    rclpy.init()
    node, heard = Node("child"), []
    node.create_subscription(String, "forked", lambda message: heard.append(message.data), 1)
    while not heard:
        rclpy.spin_once(node, timeout_sec=0.01)
    node.destroy_node()
    rclpy.shutdown()
    print(f"child heard {heard[0]}", flush=True)


if sys.argv[1] == "once":
    rclpy.init()
    Node("once").destroy_node()
    rclpy.shutdown()
elif child := os.fork():
    node = talk()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    rclpy.shutdown()
    sys.exit(status)
else:
    listen()
