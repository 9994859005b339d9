"""Exchanges serialized messages of all installed types with a process that uses another middleware.

Reads a pickle of the other process's messages, keyed by package, name and seed, and checks that they are equal to its
own messages. Then writes a pickle of its own serialized messages.
"""

import pickle
import sys

import rclpy
from rclpy.serialization import deserialize_message, serialize_message

import messages

assert rclpy.get_rmw_implementation_identifier() == "rmw_fastrtps_cpp"
reference = {}
for (package, name, seed), theirs in pickle.load(sys.stdin.buffer).items():
    kind = messages.message_class(package, name)
    message = messages.filled(kind, seed)
    assert deserialize_message(theirs, kind) == message, f"rmw_fastrtps reads another {package}/{name}"
    reference[package, name, seed] = serialize_message(message)
sys.stdout.buffer.write(pickle.dumps(reference))
