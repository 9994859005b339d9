"""Tests of the graph: names, types, counts, and endpoints with their QoS, GIDs and type hashes."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointTypeEnum
from std_msgs.msg import String
from std_srvs.srv import SetBool

from support import RosTest

STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


class Graph(RosTest):
    def test_nodes_are_seen_from_another_process(self):
        node = self.node("here", namespace="/left")
        peer = self.peer("talker", "chatter", 1)
        seen = lambda: set(node.get_node_names_and_namespaces())
        self.spin_until(lambda: seen() >= {("here", "/left"), ("talker", "/")}, "both nodes")
        self.assertIn(("talker", "/", "/"), node.get_node_names_and_namespaces_with_enclaves())
        peer.end()
        self.spin_until(lambda: seen() == {("here", "/left")}, "the end of the talker")

    def test_topics_and_services_have_names_types_and_counts(self):
        node, peer = self.node("here"), self.peer("talker", "chatter", 1)
        server = self.peer("server", "switch")
        node.create_subscription(String, "chatter", lambda _: None, 1)
        client = node.create_client(SetBool, "switch")
        self.spin_until(lambda: node.count_publishers("chatter") == 1 and client.service_is_ready(), "both peers")
        self.assertEqual(node.count_subscribers("chatter"), 1)
        self.assertEqual((node.count_services("switch"), node.count_clients("switch")), (1, 1))
        self.assertIn(("/chatter", ["std_msgs/msg/String"]), node.get_topic_names_and_types())
        self.assertIn(("/switch", ["std_srvs/srv/SetBool"]), node.get_service_names_and_types())
        of = lambda query, name: query(name, "/")
        names = lambda: {name for name, _ in node.get_node_names_and_namespaces()}
        self.spin_until(lambda: names() >= {"here", "talker", "server"}, "all nodes")
        self.assertIn(("/chatter", ["std_msgs/msg/String"]), of(node.get_publisher_names_and_types_by_node, "talker"))
        self.assertIn(("/chatter", ["std_msgs/msg/String"]), of(node.get_subscriber_names_and_types_by_node, "here"))
        self.assertIn(("/switch", ["std_srvs/srv/SetBool"]), of(node.get_service_names_and_types_by_node, "server"))
        self.assertIn(("/switch", ["std_srvs/srv/SetBool"]), of(node.get_client_names_and_types_by_node, "here"))
        with self.assertRaises(Exception):
            node.get_publisher_names_and_types_by_node("nobody", "/")
        for one in (peer, server):
            one.end()
        self.spin_until(lambda: node.count_publishers("chatter") == 0 and node.count_services("switch") == 0, "the end")

    def test_endpoints_have_qos_gids_and_type_hashes(self):
        node, peer = self.node("here"), self.peer("talker", "chatter", 5)
        qos = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)
        node.create_subscription(String, "chatter", lambda _: None, qos)
        talks = lambda: [info.node_name for info in node.get_publishers_info_by_topic("chatter")] == ["talker"]
        self.spin_until(talks, "the talker")
        (publisher,), (subscription,) = (
            node.get_publishers_info_by_topic("chatter"), node.get_subscriptions_info_by_topic("chatter")
        )
        self.assertEqual((publisher.node_name, publisher.node_namespace), ("talker", "/"))
        self.assertEqual((subscription.node_name, subscription.topic_type), ("here", "std_msgs/msg/String"))
        self.assertEqual(publisher.endpoint_type, TopicEndpointTypeEnum.PUBLISHER)
        self.assertEqual(subscription.endpoint_type, TopicEndpointTypeEnum.SUBSCRIPTION)
        self.assertEqual(str(publisher.topic_type_hash), STRING_HASH)
        self.assertEqual(str(subscription.topic_type_hash), STRING_HASH)
        self.assertEqual(publisher.qos_profile.reliability, ReliabilityPolicy.RELIABLE)
        self.assertEqual(publisher.qos_profile.durability, DurabilityPolicy.VOLATILE)
        self.assertEqual(subscription.qos_profile.reliability, ReliabilityPolicy.BEST_EFFORT)
        self.assertNotEqual(bytes(publisher.endpoint_gid), bytes(subscription.endpoint_gid))
        self.assertEqual(len(publisher.endpoint_gid), 16)
        peer.end()
