"""ROS 2-style publish and subscribe without copying messages.

A message is in shared memory, and each list of numbers in it is a NumPy array on this memory. The names are the same as
in rclpy.

    import gantry
    from gantry.messages.sensor_msgs.msg import Image

    node = gantry.Node("viewer")
    for image in node.create_subscription(Image, "image"):
        print(image.as_array().mean())
"""

from ._native import GantryError
from ._life import init, ok, on_shutdown, shutdown
from ._entity import CallbackGroup, MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from ._message import Message
from . import messages, qos
from .executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from .node import EndpointInfo, Node
from .parameter import Parameter, ParameterType, SetParametersResult
from .publisher import Publisher
from .qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_default,
    qos_profile_sensor_data,
    qos_profile_services_default,
    qos_profile_system_default,
)
from .service import Client, Service
from .subscription import MessageInfo, Subscription
from .task import Future
from .timer import Clock, Duration, EventHandler, GuardCondition, Time, Timer

__version__ = "0.1.0"


def spin(node, executor=None):
    """Runs the callbacks of a node until a shutdown."""
    with _borrowed(node, executor) as borrowed:
        borrowed.spin()


def spin_once(node, *, executor=None, timeout_sec=None):
    """Waits until a callback of the node may run, and runs one callback."""
    with _borrowed(node, executor) as borrowed:
        borrowed.spin_once(timeout_sec)


def spin_until_future_complete(node, future, executor=None, timeout_sec=None):
    """Runs the callbacks of a node until the future is done, or until the timeout."""
    with _borrowed(node, executor) as borrowed:
        borrowed.spin_until_future_complete(future, timeout_sec)


class _borrowed:
    """The executor of a node or, if it has none, a temporary one that has the node only during a call."""

    def __init__(self, node, executor):
        self._node, self._executor = node, executor or node.executor
        self._is_added = False

    def __enter__(self):
        if self._executor is None:
            self._executor = SingleThreadedExecutor()
        self._is_added = self._executor.add_node(self._node)
        return self._executor

    def __exit__(self, *_):
        if self._is_added:
            self._executor.remove_node(self._node)
