"""Nodes."""

import inspect
import weakref

from . import _life, _log, _native
from ._entity import MutuallyExclusiveCallbackGroup
from ._message import Message, class_of
from .messages import Service as ServiceType
from .messages import _service, get
from .parameter import Parameter, SetParametersResult
from .publisher import Publisher
from .qos import QoSProfile, from_fields, profile, qos_profile_services_default, seconds
from .service import Client, Service
from .subscription import Subscription
from .timer import Clock, EventHandler, GuardCondition, Timer


class EndpointInfo:
    """The description of a publisher or a subscription in the graph."""

    def __init__(self, fields):
        vars(self).update(fields)
        self.qos_profile = from_fields(fields["qos_profile"])
        self.endpoint_gid = bytes(fields["endpoint_gid"])

    def __repr__(self):
        return f"EndpointInfo({self.node_namespace.rstrip('/')}/{self.node_name}, {self.topic_type}, {self.process})"


class Node:
    """A named member of a domain, with the methods of rclpy's Node.

    It leaves the domain when it is destroyed: by `destroy_node`, at the end of `with Node("name") as node`, when nothing
    refers to it any more, or at the end of the program.
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
        """The executor that has the node; `None` if none has it."""
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
        """The node's logger, of Python's `logging`: `gantry.ns.node`."""
        return self._logger

    def get_clock(self):
        """The node's clock."""
        return Clock(self._native)

    def resolve_topic_name(self, topic):
        """The full name of a topic for this node, after remapping."""
        return self._native.resolve_topic_name(topic)

    def resolve_service_name(self, service):
        """The full name of a service for this node, after remapping."""
        return self._native.resolve_service_name(service)

    def destroy_node(self):
        """Ends all endpoints of the node, which leaves the domain. Messages that are held stay."""
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
        """A publisher of messages of `msg_type`, a class or a name such as "sensor_msgs/msg/Image".

        `event_callbacks` has a function for each kind of QoS event: matched, deadline, liveliness, incompatible_qos,
        incompatible_type. `max_memory_bytes` limits its shared memory; `max_blocking_time` (seconds) the wait for slow
        readers if both sides are RELIABLE and KEEP_ALL. If it is `asynchronous`, another thread wakes the readers.
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
        """A subscription to messages of `msg_type`. With a `callback`, an executor calls it with each message, and with
        its `MessageInfo` if it has a second argument. Without one, messages are taken from the subscription."""
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
                raise ValueError(f"{sorted(set(callbacks) - known)} are no QoS events; these are {sorted(known)}")
            self._add(EventHandler(native.events(), callbacks, self, group or self.default_callback_group))

    # Services

    def create_service(
        self, srv_type, srv_name, callback=None, *, qos_profile=qos_profile_services_default, callback_group=None
    ):
        """The server of a service: `callback(request, response)` returns the response."""
        srv_type, qos = _service_class(srv_type), profile(qos_profile)
        schemas = srv_type.Request._schema, srv_type.Response._schema
        native = self._native.create_service(srv_name, srv_type._name, *schemas, qos)
        return self._add(Service(native, srv_type, callback, qos, self, callback_group or self.default_callback_group))

    def create_client(self, srv_type, srv_name, *, qos_profile=qos_profile_services_default, callback_group=None):
        """A client of a service."""
        srv_type, qos = _service_class(srv_type), profile(qos_profile)
        schemas = srv_type.Request._schema, srv_type.Response._schema
        native = self._native.create_client(srv_name, srv_type._name, *schemas, qos)
        return self._add(Client(native, srv_type, qos, self, callback_group or self.default_callback_group))

    # Other callbacks

    def create_timer(self, timer_period_sec, callback, callback_group=None):
        """A timer that calls `callback` every period, by the node's clock."""
        period = seconds(timer_period_sec)
        native = self._native.create_timer(period)
        return self._add(Timer(native, period, callback, self, callback_group or self.default_callback_group))

    def create_guard_condition(self, callback, callback_group=None):
        """A guard condition, whose `trigger` has `callback` called on the executor's thread."""
        group = callback_group or self.default_callback_group
        return self._add(GuardCondition(_native.GuardCondition(), callback, self, group))

    def create_graph_listener(self, callback, callback_group=None):
        """Has `callback()` called after changes of the graph; several changes may be one call."""
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

    # Parameters

    def declare_parameter(self, name, value=None, descriptor=None, *, description="", read_only=False):
        """Declares a parameter and returns it, with the value that the command line gives, else `value`. Its type stays
        unless `value` is None. From the first declaration on, other programs see the node's parameters."""
        dynamic = value is None
        if descriptor is not None:
            description, read_only = descriptor.description, descriptor.read_only
            dynamic = dynamic or descriptor.dynamic_typing
        return Parameter(name, self._native.declare_parameter(name, value, description, read_only, dynamic))

    def declare_parameters(self, namespace, parameters):
        """Declares several parameters, tuples of name and value."""
        prefix = f"{namespace}." if namespace else ""
        return [self.declare_parameter(prefix + name, *rest) for name, *rest in parameters]

    def undeclare_parameter(self, name):
        """Removes a parameter whose type is dynamic."""
        self._native.undeclare_parameter(name)

    def has_parameter(self, name):
        """Whether the parameter is declared."""
        return self._native.has_parameter(name)

    def get_parameter(self, name):
        """The parameter; its `value` is the value."""
        return Parameter(name, self._native.get_parameter(name))

    def get_parameters(self, names):
        """Several parameters."""
        return [self.get_parameter(name) for name in names]

    def get_parameter_or(self, name, alternative=None):
        """The parameter, or the alternative if it is not declared."""
        return self.get_parameter(name) if self.has_parameter(name) else alternative

    def get_parameters_by_prefix(self, prefix):
        """The parameters below a prefix, by the rest of their names."""
        found = self._native.get_parameters_by_prefix(prefix)
        return {name: Parameter(f"{prefix}.{name}" if prefix else name, value) for name, value in found}

    def set_parameters(self, parameters):
        """Sets parameters one after the other, and returns a result for each."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameters]

    def set_parameters_atomically(self, parameters):
        """Sets all of these parameters, or none, and returns the result."""
        try:
            self._native.set_parameters([(parameter.name, parameter.value) for parameter in parameters])
        except _native.GantryError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def add_on_set_parameters_callback(self, callback):
        """Adds a function that may refuse changes of parameters: it gets a list of parameters and returns a
        `SetParametersResult`. It may be called on a thread of its own."""
        self._set_callbacks.append(callback)
        if not self._is_asked:
            self._is_asked = True
            self._native.on_set_parameters(_WeakAsk(self))

    def remove_on_set_parameters_callback(self, callback):
        """Removes such a function."""
        self._set_callbacks.remove(callback)

    def _ask(self, values):
        parameters = [Parameter(name, value) for name, value in values]
        for callback in list(self._set_callbacks):
            result = callback(parameters)
            if not result.successful:
                return result.reason or "a callback refuses it"
        return None

    # The graph

    def get_node_names(self):
        """The names of all nodes of the domain, without their namespaces."""
        return [name.rpartition("/")[2] for name in self._graph.node_names()]

    def get_node_names_and_namespaces(self):
        """The names and namespaces of all nodes of the domain."""
        parts = (name.rpartition("/") for name in self._graph.node_names())
        return [(name, namespace or "/") for namespace, _, name in parts]

    def get_topic_names_and_types(self):
        """The topics that have endpoints, with their types."""
        return self._graph.topic_names_and_types()

    def get_service_names_and_types(self):
        """The services that have servers or clients, with their types."""
        return self._graph.service_names_and_types()

    def count_publishers(self, topic_name):
        """The number of publishers of a topic."""
        return self._graph.count_publishers(topic_name)

    def count_subscribers(self, topic_name):
        """The number of subscriptions to a topic."""
        return self._graph.count_subscribers(topic_name)

    def get_publishers_info_by_topic(self, topic_name):
        """The publishers of a topic."""
        return [EndpointInfo(fields) for fields in self._graph.publishers_info(topic_name)]

    def get_subscriptions_info_by_topic(self, topic_name):
        """The subscriptions to a topic."""
        return [EndpointInfo(fields) for fields in self._graph.subscriptions_info(topic_name)]

    def explain(self, topic_name):
        """A sentence for each pair of a publisher and a subscription of a topic: connected, or why not."""
        return self._graph.explain(topic_name)

    def wait_for_graph_change(self, timeout_sec=None):
        """Waits until the graph changed since the last such wait; `False` after the timeout."""
        return self._graph.wait_for_graph_change(timeout_sec)

    def wait_for_node(self, fully_qualified_node_name, timeout):
        """Waits until a node is there; `False` after the timeout."""
        import time

        deadline = time.monotonic() + timeout
        name = "/" + fully_qualified_node_name.lstrip("/")
        while name not in self._graph.node_names():
            left = deadline - time.monotonic()
            if left <= 0 or not _life.ok():
                return False
            self.wait_for_graph_change(left)
        return True

    def learn_message_types(self, topic_name):
        """The message classes of a topic's endpoints, by the definitions that these programs have."""
        return [class_of(schema) for schema in self._graph.topic_schemas(topic_name)]

    def learn_service_types(self, service_name):
        """The service classes of a service's servers."""
        return [_service(name, request, response) for name, request, response in self._graph.service_schemas(service_name)]

    def best_available_qos(self, topic_name, qos_profile=10):
        """The best QoS that all publishers of a topic offer now, with the history of `qos_profile`."""
        return from_fields(self._graph.best_available_qos(topic_name, profile(qos_profile)))


class _Weak:
    """The node of a publisher, which does not keep it."""

    def __init__(self, node):
        self._node = weakref.ref(node)

    def _forget_publisher(self, publisher):
        node = self._node()
        if node is not None:
            node._forget_publisher(publisher)


class _WeakAsk:
    """The question of a node's parameters, which does not keep the node."""

    def __init__(self, node):
        self._node = weakref.ref(node)

    def __call__(self, values):
        node = self._node()
        return None if node is None else node._ask(values)


def _message_class(msg_type):
    if isinstance(msg_type, str):
        msg_type = get(msg_type)
    if inspect.isclass(msg_type) and issubclass(msg_type, Message):
        return msg_type._ordinary_class
    name = _ros_name(msg_type, "msg")
    if name is not None:
        return get(name)
    raise TypeError(f"{msg_type!r} is no message class of gantry; see gantry.messages")


def _service_class(srv_type):
    if isinstance(srv_type, str):
        srv_type = get(srv_type)
    if inspect.isclass(srv_type) and issubclass(srv_type, ServiceType):
        return srv_type
    name = _ros_name(srv_type, "srv")
    if name is not None:
        return get(name)
    raise TypeError(f"{srv_type!r} is no service class of gantry; see gantry.messages")


def _ros_name(cls, kind):
    """The name of a standard type that a class of rosidl has: std_msgs.msg._string.String."""
    parts = getattr(cls, "__module__", "").split(".")
    if len(parts) >= 2 and parts[1] == kind and inspect.isclass(cls):
        return f"{parts[0]}/{kind}/{cls.__name__}"
    return None


__all__ = ["EndpointInfo", "Node", "QoSProfile"]
