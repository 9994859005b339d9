"""Gives the names and the ROS arguments in this directory to a real rcl, and writes its results into the files.

    python3 -m venv venv
    venv/bin/pip install ros-jazzy-rclpy==7.1.6 ros-jazzy-rmw-fastrtps-cpp==8.4.3
    venv/bin/python ask_rcl.py && git diff .

The wheels are an unofficial build of ROS 2 Jazzy, for Python 3.11. An argument list that is in the wrong file (accepted
or refused) is moved to the other file. rcl also refuses files that do not exist, values that are not YAML and, in this
build, `--log-config-file`. The lists contain none of these arguments.
"""

import os
import tempfile
from pathlib import Path

import rclpy
from rclpy.context import Context
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.utilities import remove_ros_args
from rclpy.validate_full_topic_name import validate_full_topic_name

HERE = Path(__file__).resolve().parent


def columns(file):
    return [line.split("\t") for line in (HERE / file).read_text().splitlines()]


def write(file, rows):
    (HERE / file).write_text("".join("\t".join(row) + "\n" for row in rows))


def full_name(name, namespace):
    try:
        full = expand_topic_name(name, "node", namespace)
        validate_full_topic_name(full)
        return full
    except Exception:
        return "!"


def meaning(arguments):
    """The names of a node with these arguments, and the arguments that are left; None if they are refused."""
    words, context = arguments.split(" "), Context()
    try:
        rclpy.init(args=words, context=context)
    except Exception:
        return None
    try:
        node = Node("talker", namespace="/ns", context=context, enable_rosout=False, start_parameter_services=False)
    except Exception:
        return None
    finally:
        rclpy.shutdown(context=context)
    names = [node.get_fully_qualified_name(), node.resolve_topic_name("chatter"), node.resolve_service_name("chatter")]
    return names + [node.resolve_topic_name("~/chatter"), " ".join(remove_ros_args(words))]


def main():
    write("names.txt", [[name, full_name(name, "/"), full_name(name, "/ns/a__b")] for name, *_ in columns("names.txt")])
    accepted, refused = columns("accepted_arguments.txt"), columns("refused_arguments.txt")
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        Path("p.yaml").write_text("/**:\n  ros__parameters:\n    rate: 5\n")
        answers = [(row[0], meaning(row[0])) for row in accepted + refused]
    write("accepted_arguments.txt", [[arguments] + names for arguments, names in answers if names is not None])
    write("refused_arguments.txt", [[arguments] for arguments, names in answers if names is None])


main()
