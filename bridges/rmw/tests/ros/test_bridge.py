"""Tests of programs of rclpy: over rmw_gantry on one side of a bridge, and over the RMW `FAR_RMW` on the other side.

`GANTRY_BRIDGE` is the path of the bridge: gantry-bridge-rmw or, if `FAR_RMW` is rmw_zenoh_cpp, also gantry-bridge-zenoh.
rmw_zenoh_cpp needs a Zenoh router, which the tests do not start. The tests of a hub need `HUB_BRIDGE`, the path of
gantry-bridge-zenoh beside gantry-bridge-rmw.
"""

import hashlib
import json
import os
import shutil
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
OF_RMW_GANTRY = HERE.parents[3] / "crates/rmw-gantry/tests/ros"
sys.path.append(str(OF_RMW_GANTRY))

import support
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Image
from std_msgs.msg import String
from std_srvs.srv import SetBool

import messages

BRIDGE = os.environ["GANTRY_BRIDGE"]
HUB_BRIDGE = os.environ.get("HUB_BRIDGE")
FAR_RMW = os.environ.get("FAR_RMW", "rmw_fastrtps_cpp")
LOADS_RMW = Path(BRIDGE).name == "gantry-bridge-rmw"
# Fast DDS uses only UDP, because its shared-memory segments would stay after a process is killed.
os.environ.update(FASTDDS_BUILTIN_TRANSPORTS="UDPv4", ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
FAR = {**support.without_preload(), "RMW_IMPLEMENTATION": FAR_RMW}
FAR["LD_PRELOAD"] = os.environ.get("FAR_PRELOAD", "")
# Zenoh prints its warnings on the standard output, which the tests read.
FAR.setdefault("RUST_LOG", "error")
IMAGE_BYTES = 8_000_000
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Bridged(support.RosTest):
    """Each test has a bridge between a Gantry domain and the domain of the other middleware with the same number."""

    OPTIONS = []

    def setUp(self):
        super().setUp()
        os.environ["ROS_DOMAIN_ID"] = str(self.domain)
        FAR["ROS_DOMAIN_ID"] = str(self.domain)
        self.bridge = self.start_bridge()

    def start_bridge(self):
        # The message libraries in the wheels have undefined symbols, which libpython defines.
        preload = str(support.PYTHON) if LOADS_RMW and support.PYTHON.exists() else ""
        environment = {**FAR, "LD_PRELOAD": preload, "GANTRY_SHM_DIR": support.SHM_DIR}
        command = [BRIDGE, "--domain-id", str(self.domain), *self.OPTIONS] + (["--rmw", FAR_RMW] if LOADS_RMW else [])
        return self.process(command, env=environment)

    def far(self, role, *arguments, file=HERE / "far.py"):
        """Starts a process over the other middleware, and waits until it is ready."""
        return self.of_side(role, arguments, file, FAR)

    def near(self, role, *arguments, file=HERE / "far.py"):
        """Starts a process over rmw_gantry, and waits until it is ready."""
        return self.of_side(role, arguments, file, {**os.environ, "ROS_DOMAIN_ID": str(self.domain)})

    def of_side(self, role, arguments, file, environment):
        arguments = [str(argument) for argument in arguments]
        peer = self.process([sys.executable, str(file), role, *arguments], env=environment)
        peer.expect("ready")
        return peer

    def status(self):
        lines = self.gantry_output("--domain-id", str(self.domain), "--json", "bridge", "status")
        status = json.loads("\n".join(lines))[0]
        return status["mismatches"], status["topics"]


class Topics(Bridged):
    def test_each_message_goes_there_and_back(self):
        node = self.node("near")
        self.far("echo", "test_msgs", *messages.TEST_MSGS, file=OF_RMW_GANTRY / "peer.py")
        heard, publishers = {name: [] for name in messages.TEST_MSGS}, {}
        for name in messages.TEST_MSGS:
            kind = messages.message_class("test_msgs", name)
            node.create_subscription(kind, f"{name}_back", heard[name].append, 10)
            publishers[name] = node.create_publisher(kind, name, 10)
        for name, publisher in publishers.items():
            self.match(publisher)
            self.spin_until(lambda: node.count_publishers(f"{name}_back") == 1, "the way back")
            for message in messages.fixtures(name):
                with self.subTest(name):
                    self.exchange(publisher, message, heard[name])

    def exchange(self, publisher, message, heard):
        """Publishes a message until it comes back. The first messages may be lost, because the far subscription is not
        matched yet, as in any DDS."""
        before, limit = len(heard), time.monotonic() + support.PATIENCE
        while len(heard) == before:
            self.assertLess(time.monotonic(), limit, f"{message} does not come back: {self.status()}")
            publisher.publish(message)
            again = time.monotonic() + 0.5
            while len(heard) == before and time.monotonic() < again:
                self.executor.spin_once(timeout_sec=0.02)
        self.assertEqual(heard[-1], message)

    def test_a_stream_arrives_once_and_in_order(self):
        heard = []
        node = self.node("near")
        node.create_subscription(String, "chatter", lambda message: heard.append(int(message.data)), 1000)
        talker = self.far("talker", "chatter", 1000, file=OF_RMW_GANTRY / "peer.py")
        talker.order("talk 0 1")
        talker.expect("talked")
        talker.order("talk 1 1000")
        talker.expect("talked")
        self.spin_until(lambda: heard and heard[-1] == 1000, "the last message")
        self.assertEqual(heard, list(range(heard[0], 1001)))

    def test_large_images_go_both_ways(self):
        node, heard = self.node("near"), []
        node.create_subscription(Image, "/there", lambda message: heard.append(bytes(message.data)), 10)
        camera = self.far("camera", "/there", IMAGE_BYTES)
        for number in range(1, 200):
            camera.order(str(number))
            camera.expect("published")
            again = time.monotonic() + 0.5
            while not heard and time.monotonic() < again:
                self.executor.spin_once(timeout_sec=0.02)
            if heard:
                break
        self.assertEqual(heard[0], bytes([number]) * IMAGE_BYTES)
        publisher = node.create_publisher(Image, "/here", 10)
        checksum = self.far("checksum", "sensor_msgs", "Image", "/here", file=OF_RMW_GANTRY / "peer.py")
        self.match(publisher)
        data = bytes(range(250)) * (IMAGE_BYTES // 250)
        publisher.publish(Image(data=data))
        checksum.expect(f"{IMAGE_BYTES} {hashlib.sha256(data).hexdigest()}")


class Latched(Bridged):
    def test_each_late_joiner_gets_the_newest_of_a_far_publisher_once(self):
        talker = self.far("latched_talker", "/map", 1)
        for number in range(3):
            talker.order(f"before {number}")
            talker.expect("published")
        node, heard = self.node("near"), [[], []]
        node.create_subscription(String, "/map", lambda message: heard[0].append(message.data), LATCHED)
        self.spin_until(lambda: heard[0], "the latched message")
        self.assertEqual(heard[0], ["before 2"])
        node.create_subscription(String, "/map", lambda message: heard[1].append(message.data), LATCHED)
        self.spin_until(lambda: heard[1], "the latched message")
        talker.order("after")
        self.spin_until(lambda: all(texts[-1] == "after" for texts in heard), "the next message")
        self.assertEqual(heard, [["before 2", "after"]] * 2)

    def test_each_far_late_joiner_gets_the_newest_once(self):
        node = self.node("near")
        publisher = node.create_publisher(String, "/map", QoSProfile(depth=2, durability=DurabilityPolicy.TRANSIENT_LOCAL))
        for number in range(4):
            publisher.publish(String(data=str(number)))
        for _ in range(2):
            listener = self.far("latched_listener", "/map", 100)
            listener.expect("heard 2")
            listener.expect("heard 3")
        publisher.publish(String(data="next"))
        listener.expect("heard next")

    def test_a_late_joiner_gets_the_newest_of_each_of_five_publishers(self):
        """As `/tf_static`, to which each node adds its own transforms."""
        talkers = [self.far("latched_talker", "/from_far", 1) for _ in range(5)]
        for number, talker in enumerate(talkers):
            for text in ("old", f"far {number}"):
                talker.order(text)
                talker.expect("published")
        node, heard = self.node("near"), []
        node.create_subscription(String, "/from_far", lambda message: heard.append(message.data), LATCHED)
        self.spin_until(lambda: len(heard) >= 5, "a message of each publisher")
        latest = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publishers = [self.node(f"near_{number}").create_publisher(String, "/from_near", latest) for number in range(5)]
        for number, publisher in enumerate(publishers):
            for text in ("old", f"near {number}"):
                publisher.publish(String(data=text))
        listener = self.far("latched_listener", "/from_near", 100)
        self.assertEqual({listener.line() for _ in range(5)}, {f"heard near {number}" for number in range(5)})
        publishers[0].publish(String(data="next"))
        listener.expect("heard next")
        talkers[0].order("next")
        self.spin_until(lambda: heard[-1] == "next", "the next message")
        self.assertEqual(sorted(heard), [*(f"far {number}" for number in range(5)), "next"])

    def test_kills_of_the_bridge_lose_and_repeat_nothing(self):
        talker = self.far("latched_talker", "/map", 1)
        for kill in range(int(os.environ.get("BRIDGE_TEST_ROUNDS", "3"))):
            talker.order(f"round {kill}")
            talker.expect("published")
            node, heard = self.node(f"near_{kill}"), []
            node.create_subscription(String, "/map", lambda message: heard.append(message.data), LATCHED)
            self.spin_until(lambda: heard, "the latched message")
            talker.order(f"again {kill}")
            talker.expect("published")
            self.spin_until(lambda: heard[-1] == f"again {kill}", "the next message")
            self.assertEqual(heard, [f"round {kill}", f"again {kill}"])
            node.destroy_node()
            self.nodes.remove(node)
            self.bridge.kill()
            self.bridge = self.start_bridge()


class Services(Bridged):
    def test_a_near_client_calls_a_far_server(self):
        self.far("server", "/arm", file=OF_RMW_GANTRY / "peer.py")
        caller = self.near("caller", "/arm")
        for order, answer in (("yes", "answer True Größe True"), ("no", "answer False Größe False")):
            caller.order(order)
            caller.expect(answer)

    def test_a_far_client_calls_a_near_server(self):
        self.near("server", "/arm", file=OF_RMW_GANTRY / "peer.py")
        caller = self.far("caller", "/arm")
        for order, answer in (("yes", "answer True Größe True"), ("no", "answer False Größe False")):
            caller.order(order)
            caller.expect(answer)

    def wait_until_gone(self, name):
        """Waits until the graph on the far side has no node with this name."""
        observer, limit = self.far("observer"), time.monotonic() + support.PATIENCE
        while True:
            observer.order(name)
            if not list(iter(observer.line, "end")):
                return
            self.assertLess(time.monotonic(), limit, f"{name} does not leave")

    def test_a_call_is_not_executed_again_when_another_server_takes_over(self):
        servers = {name: self.near("slow_server", "/arm", name) for name in ("first", "second")}
        caller = self.far("caller", "/arm")
        caller.order("yes")
        for name, server in servers.items():
            server.expect("asked True")
        servers["first"].order("answer")
        caller.expect("answer True first")
        servers["second"].order("answer")
        servers["first"].kill()
        self.wait_until_gone("/first")
        caller.order("no")
        servers["second"].expect("asked False")
        servers["second"].order("answer")
        caller.expect("answer False second")

    def test_the_calls_of_a_server_that_leaves_are_counted_and_the_next_one_serves(self):
        server = self.near("slow_server", "/arm", "first")
        self.far_caller_asks(server)
        server.kill()
        lost = lambda: sum(topic["unclaimed"] for topic in self.status()[1] if topic["name"] == "/arm")
        limit = time.monotonic() + support.PATIENCE
        while lost() != 1:
            self.assertLess(time.monotonic(), limit, self.status())
        server = self.near("slow_server", "/arm", "second")
        caller = self.far_caller_asks(server)
        server.order("answer")
        caller.expect("answer True second")

    def far_caller_asks(self, server):
        caller = self.far("caller", "/arm")
        caller.order("yes")
        server.expect("asked True")
        return caller

    def test_actions_go_both_ways(self):
        for server, client in ((self.far, self.near), (self.near, self.far)):
            process = server("action_server", f"/{server.__name__}_fibonacci")
            asker = client("action_client", f"/{server.__name__}_fibonacci")
            asker.order("6")
            asker.expect("result [0, 1, 1, 2, 3, 5, 8] status 4 feedback True")
            process.kill()

    def test_parameters_go_both_ways(self):
        for server, reader in ((self.far, self.near), (self.near, self.far)):
            robot = server("robot", file=OF_RMW_GANTRY / "peer.py")
            asker = reader("parameter_reader", "/robot")
            for name, value in (("name", "value Günther"), ("speed", "value 1.5")):
                asker.order(name)
                asker.expect(value)
            robot.kill()
            asker.kill()


class GraphTest(Bridged):
    NODES = "/talker /listener /robot"

    def graph(self, observer, is_whole):
        limit = time.monotonic() + support.PATIENCE
        while True:
            observer.order(self.NODES)
            lines = list(iter(observer.line, "end"))
            if is_whole(lines):
                return lines
            self.assertLess(time.monotonic(), limit, lines)

    def test_the_far_graph_is_that_of_a_system_without_a_bridge(self):
        start = lambda side: [
            side("talker", "chatter", 10, file=OF_RMW_GANTRY / "peer.py"),
            side("listener", "chatter", 10, file=OF_RMW_GANTRY / "peer.py"),
            side("robot", file=OF_RMW_GANTRY / "peer.py"),
        ]
        self.bridge.kill()
        observer, peers = self.far("observer"), start(self.far)
        readings = []

        def is_stable(lines):
            """True if all nodes are in the graph, and the last three readings are equal."""
            readings.append(lines)
            of_nodes = lambda kind: {line.split()[1] for line in lines if line.startswith(kind)}
            is_whole = all(of_nodes(kind) == set(self.NODES.split()) for kind in ("node", "server", "publisher"))
            return is_whole and readings[-3:] == [lines] * 3

        direct = self.graph(observer, is_stable)
        for peer in peers:
            peer.end()
        self.graph(observer, lambda lines: not lines)
        peers = start(self.near)
        self.bridge = self.start_bridge()
        bridged = self.graph(observer, lambda lines: len(lines) >= len(direct))
        self.assertEqual(bridged, direct)


@unittest.skipUnless(HUB_BRIDGE, "HUB_BRIDGE is not set")
class Hub(Bridged):
    """The domain joins two networks: programs over the other middleware, and a second host with Gantry over Zenoh."""

    OPTIONS = ["--hub"]

    def setUp(self):
        super().setUp()
        self.second_host = tempfile.mkdtemp(prefix="bridge-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.second_host, ignore_errors=True)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = "tcp/127.0.0.1:%d" % listener.getsockname()[1]
        self.start_zenoh(support.SHM_DIR, "--hub", "--listen", address)
        self.start_zenoh(self.second_host, "--connect", address)

    def start_zenoh(self, host, *options):
        # The bridge that listens connects to no router.
        override = "connect/endpoints=[]" if "--listen" in options else ""
        environment = support.without_preload() | {"GANTRY_SHM_DIR": host, "ZENOH_CONFIG_OVERRIDE": override}
        self.process([HUB_BRIDGE, "--domain-id", str(self.domain), *options], env=environment)

    def distant(self, role, *arguments, file=HERE / "far.py"):
        """Starts a process over rmw_gantry on the second host, and waits until it is ready."""
        return self.of_side(role, arguments, file, os.environ | {"GANTRY_SHM_DIR": self.second_host})

    def test_a_distant_client_calls_a_far_server(self):
        self.calls_cross(self.far, self.distant)

    def test_a_far_client_calls_a_distant_server(self):
        self.calls_cross(self.distant, self.far)

    def calls_cross(self, server, client):
        server("robot", file=OF_RMW_GANTRY / "peer.py")
        server("server", "/arm", file=OF_RMW_GANTRY / "peer.py")
        caller, reader = client("caller", "/arm"), client("parameter_reader", "/robot")
        for order, answer in (("yes", "answer True Größe True"), ("no", "answer False Größe False")):
            caller.order(order)
            caller.expect(answer)
        reader.order("speed")
        reader.expect("value 1.5")

    def test_a_distant_client_uses_a_far_action(self):
        self.action_crosses(self.far, self.distant)

    def test_a_far_client_uses_a_distant_action(self):
        self.action_crosses(self.distant, self.far)

    def action_crosses(self, server, client):
        server("action_server", "/fibonacci")
        asker = client("action_client", "/fibonacci")
        asker.order("6")
        asker.expect("result [0, 1, 1, 2, 3, 5, 8] status 4 feedback True")


if __name__ == "__main__":
    unittest.main(verbosity=2)
