"""Methods of a node that read the graph of its domain."""

import time

from . import _life
from ._message import class_of
from .messages import _service
from .qos import from_fields, profile


class EndpointInfo:
    """The description of a publisher or a subscription in the graph."""

    def __init__(self, fields):
        vars(self).update(fields)
        self.qos_profile = from_fields(fields["qos_profile"])
        self.endpoint_gid = bytes(fields["endpoint_gid"])

    def __repr__(self):
        return f"EndpointInfo({self.node_namespace.rstrip('/')}/{self.node_name}, {self.topic_type}, {self.process})"


class GraphMethods:
    """The methods of a node that read the graph."""

    def get_node_names(self):
        """The names of all nodes of the domain, without their namespaces."""
        return [name.rpartition("/")[2] for name in self._graph.node_names()]

    def get_node_names_and_namespaces(self):
        """The names and namespaces of all nodes of the domain."""
        parts = (name.rpartition("/") for name in self._graph.node_names())
        return [(name, namespace or "/") for namespace, _, name in parts]

    def get_topic_names_and_types(self):
        """The names of topics that have endpoints, with their types."""
        return self._graph.topic_names_and_types()

    def get_service_names_and_types(self):
        """The names of services that have servers or clients, with their types."""
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
        """One sentence for each pair of a publisher and a subscription of the topic: connected, or why not."""
        return self._graph.explain(topic_name)

    def wait_for_graph_change(self, timeout_sec=None):
        """Waits until the graph has changed since the last call. Returns `False` after the timeout."""
        return self._graph.wait_for_graph_change(timeout_sec)

    def wait_for_node(self, fully_qualified_node_name, timeout):
        """Waits until a node with this name exists. Returns `False` after the timeout."""
        deadline = time.monotonic() + timeout
        name = "/" + fully_qualified_node_name.lstrip("/")
        while name not in self._graph.node_names():
            left = deadline - time.monotonic()
            if left <= 0 or not _life.ok():
                return False
            self.wait_for_graph_change(left)
        return True

    def learn_message_types(self, topic_name):
        """The message classes of a topic's endpoints, from the definitions that these endpoints publish."""
        return [class_of(schema) for schema in self._graph.topic_schemas(topic_name)]

    def learn_service_types(self, service_name):
        """The service classes that the servers of a service have."""
        return [_service(name, request, response) for name, request, response in self._graph.service_schemas(service_name)]

    def best_available_qos(self, topic_name, qos_profile=10):
        """The strictest QoS that all present publishers of a topic offer, with the history of `qos_profile`."""
        return from_fields(self._graph.best_available_qos(topic_name, profile(qos_profile)))
