"""Tests of rclpy together with Gantry's own programs, on the same topics and services and in both directions."""

import hashlib
import json
import unittest
from pathlib import Path

from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Image, PointCloud2
from std_msgs.msg import String
from std_srvs.srv import SetBool

from support import GANTRY, IS_GANTRY, PATIENCE, RosTest, without_preload
from test_graph import STRING_HASH

COUNT = 20
SIZES_BYTES = (0, 1, 999, 100_000)


def checksum(data):
    return hashlib.sha256(data).hexdigest()


@unittest.skipUnless(IS_GANTRY, "Gantry's own programs hear only rmw_gantry")
@unittest.skipUnless(GANTRY, "GANTRY_COMMAND is not the path of the command `gantry`")
class Mixed(RosTest):
    def setUp(self):
        super().setUp()
        self.heard = []

    def test_rclpy_hears_a_program_of_gantry(self):
        self.node().create_subscription(String, "chatter", lambda message: self.heard.append(message.data), COUNT)
        pub = ["topic", "pub", "/chatter", "std_msgs/msg/String", "data: Grüße"]
        peer = self.gantry(*pub, "-t", str(COUNT), "-r", "100")
        self.spin_until(lambda: len(self.heard) == COUNT, f"{COUNT} messages")
        self.assertEqual(self.heard, ["Grüße"] * COUNT)
        self.assertEqual(peer.status(), 0)

    def test_a_program_of_gantry_hears_rclpy(self):
        publisher = self.node().create_publisher(String, "chatter", COUNT)
        peer = self.gantry("topic", "echo", "/chatter", "--json", "--field", "data", "--qos-depth", str(COUNT))
        self.match(publisher)
        for number in range(COUNT):
            publisher.publish(String(data=f"Grüße {number}"))
        for number in range(COUNT):
            self.assertEqual(json.loads(peer.line()), f"Grüße {number}")

    def test_a_program_of_gantry_hears_what_rclpy_published_before(self):
        latched = QoSProfile(depth=3, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publisher = self.node().create_publisher(String, "map", latched)
        publisher.publish(String(data="old"))
        peer = self.gantry("topic", "echo", "/map", "--json", "--field", "data", "--once")
        self.assertEqual(json.loads(peer.line()), "old")
        self.assertEqual(peer.status(), 0)

    def test_messages_without_a_fixed_size_arrive_from_rclpy(self):
        for name, kind in (("image", Image), ("cloud", PointCloud2)):
            publisher = self.node(f"{name}_camera").create_publisher(kind, name, 10)
            peer = self.gantry("topic", "echo", f"/{name}", "--json", "--full-length", "--field", "data")
            self.match(publisher)
            for size in SIZES_BYTES:
                with self.subTest(name, size=size):
                    data = hashlib.shake_128(str(size).encode()).digest(size)
                    publisher.publish(kind(data=data))
                    self.assertEqual(checksum(bytes(json.loads(peer.line()))), checksum(data))

    def test_messages_without_a_fixed_size_arrive_at_rclpy(self):
        for name, kind in (("image", Image), ("cloud", PointCloud2)):
            node, heard = self.node(f"{name}_viewer"), []
            node.create_subscription(kind, name, heard.append, 10)
            for size in SIZES_BYTES:
                with self.subTest(name, size=size):
                    data = hashlib.shake_128(str(size).encode()).digest(size)
                    of = [f"/{name}", f"sensor_msgs/msg/{kind.__name__}"]
                    peer = self.gantry("topic", "pub", *of, "--once", "--stdin")
                    values = {"header": {"stamp": {"sec": size}, "frame_id": "Kamera ö"}, "data": list(data)}
                    peer.process.stdin.write(json.dumps(values))
                    peer.process.stdin.close()
                    self.spin_until(lambda: heard, "the message")
                    message = heard.pop()
                    self.assertEqual((message.header.stamp.sec, message.header.frame_id), (size, "Kamera ö"))
                    self.assertEqual(checksum(bytes(message.data)), checksum(data))
                    self.assertEqual(peer.status(), 0)

    def test_a_program_of_gantry_calls_a_service_of_rclpy(self):
        self.peer("server", "switch")
        for answer in (True, False):
            request = json.dumps({"data": answer})
            lines = self.gantry_output("service", "call", "/switch", "std_srvs/srv/SetBool", request)
            self.assertIn(f"std_srvs.srv.SetBool_Response(success={answer}, message='Größe {answer}')", lines)

    def test_rclpy_calls_services_of_a_program_of_gantry(self):
        server = Path(GANTRY).parent / "examples" / "add_two_ints_server"
        if not server.exists():
            self.skipTest(f"there is no {server}: cargo build -p gantry --example add_two_ints_server")
        # A node of Gantry has parameter services only if it has a parameter.
        self.process([str(server), "--ros-args", "-p", "use_sim_time:=false"], env=without_preload())
        node = self.node()
        client = AsyncParameterClient(node, "add_two_ints_server")
        self.assertTrue(client.wait_for_services(timeout_sec=PATIENCE))
        names = self.result(client.list_parameters()).result.names
        self.assertIn("use_sim_time", names)
        self.assertEqual(self.result(client.get_parameters(["use_sim_time"])).values[0].bool_value, False)
        results = self.result(client.set_parameters([Parameter("use_sim_time", value="maybe")])).results
        self.assertFalse(results[0].successful)
        self.assertTrue(results[0].reason)
        self.assertIn(("/add_two_ints", ["example_interfaces/srv/AddTwoInts"]), node.get_service_names_and_types())

    def test_a_program_of_gantry_reads_and_sets_parameters_of_rclpy(self):
        self.peer("robot")
        self.assertEqual(self.gantry_output("param", "get", "/robot", "speed"), ["Double value is: 1.5"])
        self.assertEqual(self.gantry_output("param", "set", "/robot", "speed", "2.5"), ["Set parameter successful"])
        self.assertEqual(self.gantry_output("param", "get", "/robot", "speed"), ["Double value is: 2.5"])
        self.assertEqual(self.gantry_output("param", "get", "/robot", "name"), ["String value is: Günther"])

    def test_both_see_each_other_in_the_graph(self):
        node = self.node("here")
        node.create_subscription(String, "chatter", lambda _: None, QoSProfile(depth=7))
        peer = self.gantry("topic", "pub", "/chatter", "std_msgs/msg/String", "data: x", "-r", "100")
        self.spin_until(lambda: node.count_publishers("chatter") == 1, "the publisher")
        self.assertIn("/here", self.gantry_output("node", "list"))
        info = json.loads("".join(self.gantry_output("topic", "info", "-v", "/chatter", "--json")))
        (theirs,), (ours,) = info["publishers"], info["subscriptions"]
        self.assertEqual((ours["node_name"], ours["topic_type"]), ("here", "std_msgs/msg/String"))
        self.assertEqual((ours["topic_type_hash"], theirs["topic_type_hash"]), (STRING_HASH, STRING_HASH))
        self.assertEqual(ours["qos_profile"]["depth"], 7)
        (seen,) = node.get_publishers_info_by_topic("chatter")
        self.assertEqual((str(seen.topic_type_hash), seen.topic_type), (STRING_HASH, "std_msgs/msg/String"))
        self.assertEqual(".".join(f"{byte:02x}" for byte in seen.endpoint_gid), theirs["gid"])
        peer.kill()
        self.spin_until(lambda: node.count_publishers("chatter") == 0, "the end of the publisher")

    def test_explain_says_which_node_is_one_of_rmw_gantry(self):
        self.node("here").create_subscription(String, "chatter", lambda _: None, 10)
        self.peer("talker", "chatter", 1)
        lines = self.gantry_output("topic", "explain", "/chatter")
        self.assertRegex(lines[0], r"/chatter: /talker \(rmw_gantry\) in .* to /here \(rmw_gantry\) in .*zero-copy")

    def test_qos_that_does_not_match_is_explained(self):
        self.node("here").create_subscription(String, "chatter", lambda _: None, 10)
        self.gantry("topic", "pub", "/chatter", "std_msgs/msg/String", "data: x", "--qos-reliability", "best_effort")
        node = self.nodes[0]
        self.spin_until(lambda: node.count_publishers("chatter") == 1, "the publisher")
        lines = self.gantry_output("topic", "explain", "/chatter")
        self.assertRegex(lines[0], "not connected: .* do not agree on reliability")
