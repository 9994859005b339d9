"""Nodes."""

import inspect
import weakref

from . import _life, _log, _native
from ._entity import MutuallyExclusiveCallbackGroup
from ._message import Message
from .messages import Service as ServiceType
from .messages import get
from .node_graph import EndpointInfo, GraphMethods
from .node_parameters import ParameterMethods
from .publisher import Publisher
from .qos import QoSProfile, profile, qos_profile_services_default, seconds
from .service import Client, Service
from .subscription import Subscription
from .timer import Clock, EventHandler, GuardCondition, Timer


class Node(GraphMethods, ParameterMethods):
    """A node: a named member of a domain, with the methods of rclpy's Node.

    A node leaves the domain when it is destroyed: by `destroy_node`, at the end of a block `with Node("name") as node`,
    when nothing refers to it any more, or at the end of the program.
    """

    def __init__(
        self,
        node_name,
        *,
        namespace="",
        domain_id=None,
        cli_args=None,
        use_global_arguments=True,
        remappings=None,
        parameter_overrides=None,
        allow_undeclared_parameters=False,
        automatically_declare_parameters_from_overrides=False,
    ):
        arguments = list(cli_args or []) + (list(_life.arguments()) if use_global_arguments else [])
        overrides = [(one.name, one.value) for one in parameter_overrides or []]
        self._native = _native.Node(
            node_name,
            namespace or "/",
            domain_id,
            arguments,
            list((remappings or {}).items()),
            overrides,
            allow_undeclared_parameters,
            automatically_declare_parameters_from_overrides,
        )
        self._graph = _native.Graph(self._native)
        self._entities, self._publishers = [], []
        self._executor = None
        self._set_callbacks = []
        self._is_asked = False
        self.default_callback_group = MutuallyExclusiveCallbackGroup()
        self._logger = _log.logger_of(self._native.fully_qualified_name)
        _life.register_node(self)

    # The node itself

    @property
    def executor(self):
        """The executor to which the node was added; `None` if there is none."""
        return self._executor() if self._executor is not None else None

    def get_name(self):
        """The node's name, after remapping."""
        return self._native.name

    def get_namespace(self):
        """The node's namespace, after remapping."""
        return self._native.namespace

    def get_fully_qualified_name(self):
        """The node's namespace and name."""
        return self._native.fully_qualified_name

    @property
    def domain_id(self):
        """The node's domain."""
        return self._native.domain_id

    def get_logger(self):
        """The node's logger in Python's `logging`, for example `gantry.ns.node`."""
        return self._logger

    def get_clock(self):
        """The node's clock."""
        return Clock(self._native)

    def resolve_topic_name(self, topic):
        """The full name that `topic` has for this node, after remapping."""
        return self._native.resolve_topic_name(topic)

    def resolve_service_name(self, service):
        """The full name that `service` has for this node, after remapping."""
        return self._native.resolve_service_name(service)

    def destroy_node(self):
        """Destroys all endpoints of the node, which then leaves the domain. Messages that the program holds stay."""
        executor = self.executor
        if executor is not None:
            executor.remove_node(self)
        for entity in list(self._entities):
            entity.destroy()
        for publisher in list(self._publishers):
            publisher.destroy()
        self._native.destroy()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.destroy_node()

    def __repr__(self):
        return f"<gantry.Node {self.get_fully_qualified_name()}>"

    # Topics

    def create_publisher(
        self,
        msg_type,
        topic,
        qos_profile=10,
        *,
        event_callbacks=None,
        callback_group=None,
        max_memory_bytes=None,
        asynchronous=False,
        max_blocking_time=None,
    ):
        """Creates a publisher of messages of `msg_type`, a class or a name such as "sensor_msgs/msg/Image".

        `event_callbacks` is a dictionary with a function for each kind of QoS event: matched, deadline, liveliness,
        incompatible_qos, incompatible_type. `max_memory_bytes` limits the publisher's shared memory.
        `max_blocking_time` (seconds) limits the wait for slow readers if both sides are RELIABLE and KEEP_ALL. If the
        publisher is `asynchronous`, another thread wakes the readers.
        """
        msg_type, qos = _message_class(msg_type), profile(qos_profile)
        blocking = seconds(max_blocking_time)
        native = self._native.create_publisher(topic, msg_type._schema, qos, max_memory_bytes, asynchronous, blocking)
        publisher = Publisher(native, msg_type, qos, _Weak(self))
        self._publishers.append(publisher)
        self._add_events(native, event_callbacks, callback_group)
        return publisher

    def create_subscription(
        self, msg_type, topic, callback=None, qos_profile=10, *, event_callbacks=None, callback_group=None
    ):
        """Creates a subscription to messages of `msg_type`. If there is a `callback`, an executor calls it with each
        message, and with its `MessageInfo` if the callback has a second argument. Otherwise take messages from the
        subscription."""
        if callback is not None and not callable(callback):
            callback, qos_profile = None, callback  # create_subscription(type, topic, qos)
        msg_type, qos = _message_class(msg_type), profile(qos_profile)
        native = self._native.create_subscription(topic, msg_type._schema, qos)
        group = callback_group or self.default_callback_group
        subscription = self._add(Subscription(native, msg_type, callback, qos, self, group))
        self._add_events(native, event_callbacks, callback_group)
        return subscription

    def _add_events(self, native, callbacks, group):
        if callbacks:
            known = {"matched", "deadline", "liveliness", "incompatible_qos", "incompatible_type"}
            if not set(callbacks) <= known:
                raise ValueError(
                    f"{sorted(set(callbacks) - known)} are not QoS events; the QoS events are {sorted(known)}"
                )
            self._add(EventHandler(native.events(), callbacks, self, group or self.default_callback_group))

    # Services

    def create_service(
        self, srv_type, srv_name, callback=None, *, qos_profile=qos_profile_services_default, callback_group=None
    ):
        """Creates the server of a service. `callback(request, response)` returns the response."""
        srv_type, qos = _service_class(srv_type), profile(qos_profile)
        schemas = srv_type.Request._schema, srv_type.Response._schema
        native = self._native.create_service(srv_name, srv_type._name, *schemas, qos)
        return self._add(Service(native, srv_type, callback, qos, self, callback_group or self.default_callback_group))

    def create_client(self, srv_type, srv_name, *, qos_profile=qos_profile_services_default, callback_group=None):
        """Creates a client of a service."""
        srv_type, qos = _service_class(srv_type), profile(qos_profile)
        schemas = srv_type.Request._schema, srv_type.Response._schema
        native = self._native.create_client(srv_name, srv_type._name, *schemas, qos)
        return self._add(Client(native, srv_type, qos, self, callback_group or self.default_callback_group))

    # Other callbacks

    def create_timer(self, timer_period_sec, callback, callback_group=None):
        """Creates a timer that calls `callback` once in each period of the node's clock."""
        period = seconds(timer_period_sec)
        native = self._native.create_timer(period)
        return self._add(Timer(native, period, callback, self, callback_group or self.default_callback_group))

    def create_guard_condition(self, callback, callback_group=None):
        """Creates a guard condition. After its `trigger`, the executor calls `callback`."""
        group = callback_group or self.default_callback_group
        return self._add(GuardCondition(_native.GuardCondition(), callback, self, group))

    def create_graph_listener(self, callback, callback_group=None):
        """Makes the executor call `callback()` after changes of the graph. One call may stand for several changes."""
        group = callback_group or self.default_callback_group
        callbacks = {"graph_changed": lambda _: callback()}
        return self._add(EventHandler(self._graph.graph_changes(), callbacks, self, group))

    def destroy_subscription(self, subscription):
        """Ends a subscription."""
        subscription.destroy()
        return True

    destroy_service = destroy_client = destroy_timer = destroy_guard_condition = destroy_subscription

    def destroy_publisher(self, publisher):
        """Ends a publisher."""
        publisher.destroy()
        return True

    def _add(self, entity):
        self._entities.append(entity)
        executor = self.executor
        if executor is not None:
            executor._attach(entity)
        return entity

    def _forget(self, entity):
        executor = self.executor
        if executor is not None:
            executor._detach(entity)
        if entity in self._entities:
            self._entities.remove(entity)

    def _forget_publisher(self, publisher):
        if publisher in self._publishers:
            self._publishers.remove(publisher)


class _Weak:
    """A weak reference from a publisher to its node, so that the publisher does not keep the node alive."""

    def __init__(self, node):
        self._node = weakref.ref(node)

    def _forget_publisher(self, publisher):
        node = self._node()
        if node is not None:
            node._forget_publisher(publisher)


def _message_class(msg_type):
    if isinstance(msg_type, str):
        msg_type = get(msg_type)
    if inspect.isclass(msg_type) and issubclass(msg_type, Message):
        return msg_type._ordinary_class
    name = _ros_name(msg_type, "msg")
    if name is not None:
        return get(name)
    raise TypeError(f"{msg_type!r} is not a message class of gantry; see gantry.messages")


def _service_class(srv_type):
    if isinstance(srv_type, str):
        srv_type = get(srv_type)
    if inspect.isclass(srv_type) and issubclass(srv_type, ServiceType):
        return srv_type
    name = _ros_name(srv_type, "srv")
    if name is not None:
        return get(name)
    raise TypeError(f"{srv_type!r} is not a service class of gantry; see gantry.messages")


def _ros_name(cls, kind):
    """The name of a standard type, from the module of a class that rosidl generated, for example
    std_msgs.msg._string.String."""
    parts = getattr(cls, "__module__", "").split(".")
    if len(parts) >= 2 and parts[1] == kind and inspect.isclass(cls):
        return f"{parts[0]}/{kind}/{cls.__name__}"
    return None


__all__ = ["EndpointInfo", "Node", "QoSProfile"]
