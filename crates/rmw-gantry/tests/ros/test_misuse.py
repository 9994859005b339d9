"""Tests of programs that break a rule, or do not take their messages: they must not end another program."""

import os
import unittest

import rclpy
from rclpy.context import Context
from rclpy.event_handler import (
    QoSPublisherEventType, QoSSubscriptionEventType, SubscriptionEventCallbacks,
)
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSPolicyKind
from std_msgs.msg import String
from std_srvs.srv import SetBool

from support import IS_GANTRY, RosTest

# More responses, of 4 MB each, than a server keeps for a client.
LEFT_RESPONSES = 300
RESPONSE_CHARACTERS = 4_000_000
# More requests than a client keeps for a server that takes none.
LEFT_REQUESTS = 1500
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"


class Malformed(RosTest):
    def test_malformed_messages_end_no_listener(self):
        node, heard, lost = self.node(), [], []
        events = SubscriptionEventCallbacks(message_lost=lost.append, use_default_callbacks=False)
        node.create_subscription(String, "chatter", heard.append, 10, event_callbacks=events)
        publisher = node.create_publisher(String, "chatter", 10)
        self.match(publisher)
        for body in (b"\xff\xff\xff\x7fboo", b"", b"\x04\0\0\0abcd"):
            publisher.publish(b"\0\1\0\0" + body)
        publisher.publish(String(data="whole"))
        self.spin_until(lambda: heard)
        self.assertEqual([message.data for message in heard], ["whole"])
        if IS_GANTRY:
            self.spin_until(lambda: lost and lost[-1].total_count == 3, "the event of three lost messages")


class LeftBehind(RosTest):
    def lazy_client(self):
        """Creates a client whose node is in no executor, so that it takes no responses."""
        node = Node("lazy", context=self.context, start_parameter_services=False, enable_rosout=False)
        self.nodes.append(node)
        client = node.create_client(SetBool, "switch")
        self.spin_until(client.service_is_ready)
        return client

    @unittest.skipUnless(IS_GANTRY, "a gigabyte of responses is about the memory of rmw_gantry")
    def test_a_client_that_takes_no_responses_ends_no_server(self):
        served = []

        def answer(_, response):
            served.append(response)
            response.message = "x" * RESPONSE_CHARACTERS
            return response

        node = self.node()
        node.create_service(SetBool, "switch", answer)
        lazy = self.lazy_client()
        for number in range(1, LEFT_RESPONSES + 1):
            lazy.call_async(SetBool.Request())
            self.spin_until(lambda: len(served) == number)
        other = node.create_client(SetBool, "switch")
        self.spin_until(other.service_is_ready)
        response = self.result(other.call_async(SetBool.Request()))
        self.assertEqual(len(response.message), RESPONSE_CHARACTERS)

    def test_a_flood_of_requests_raises_nothing(self):
        node, served = self.node(), []
        node.create_service(SetBool, "switch", lambda request, response: (served.append(request), response)[1])
        client = self.lazy_client()
        futures = [client.call_async(SetBool.Request()) for _ in range(LEFT_REQUESTS)]
        self.assertEqual(len(futures), LEFT_REQUESTS)
        self.spin_until(lambda: served, "a request")
        while served.clear() or self.executor.spin_once(timeout_sec=0.1) or served:
            pass
        # The server has taken its old requests now, so new requests are answered again.
        last = client.call_async(SetBool.Request())
        executor = SingleThreadedExecutor(context=self.context)
        executor.add_node(self.nodes[-1])

        def is_answered():
            for _ in range(100):
                executor.spin_once(timeout_sec=0)
            return last.done()

        self.spin_until(is_answered, "the answer")
        self.assertIsNotNone(last.result())
        executor.shutdown()


class Facts(RosTest):
    def test_a_status_without_events_names_no_policy(self):
        node = self.node()
        for endpoint, kind in (
            (node.create_publisher(String, "chatter", 10), QoSPublisherEventType.RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS),
            (
                node.create_subscription(String, "chatter", lambda _: None, 10),
                QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS,
            ),
        ):
            with endpoint.handle:
                event = rclpy_implementation.EventHandle(endpoint.handle, kind)
            with event:
                status = event.take_event()
            self.assertEqual((status.total_count, status.last_policy_kind), (0, QoSPolicyKind.INVALID))

    def test_a_context_without_discovery_meets_no_other_one(self):
        context = Context()
        os.environ[RANGE] = "OFF"
        try:
            rclpy.init(context=context, domain_id=self.domain)
        finally:
            del os.environ[RANGE]
        executor = SingleThreadedExecutor(context=context)
        alone = Node("alone", context=context, start_parameter_services=False, enable_rosout=False)
        executor.add_node(alone)
        heard = []
        alone.create_subscription(String, "chatter", lambda message: heard.append(message.data), 10)
        other = self.node("other")
        outside, inside = (node.create_publisher(String, "chatter", 10) for node in (other, alone))
        inside.publish(String(data="inside"))
        outside.publish(String(data="outside"))
        self.spin_until(lambda: (executor.spin_once(timeout_sec=0.05), heard)[1], "its own message")
        executor.spin_once(timeout_sec=0.1)
        self.assertEqual(heard, ["inside"])
        self.assertEqual((other.count_subscribers("chatter"), alone.count_publishers("chatter")), (0, 1))
        self.assertNotIn("alone", other.get_node_names())
        executor.shutdown()
        alone.destroy_node()
        rclpy.shutdown(context=context)
