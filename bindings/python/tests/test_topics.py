"""Tests of publishers and subscriptions: QoS, waits, events, the graph, threads."""

import logging
import threading
import time

import numpy
import pytest

import gantry
from gantry import QoSProfile
from gantry.messages.sensor_msgs.msg import Image
from gantry.messages.std_msgs.msg import String, UInt64


def test_messages_are_taken_in_order_with_their_info(node):
    publisher, subscription = node.create_publisher(UInt64, "count"), node.create_subscription(UInt64, "count")
    assert [publisher.publish(UInt64(data=value)) for value in (5, 6)] == [1, 2]
    message, info = subscription.take_with_info()
    assert (message.data, info.sequence, info.publisher_gid) == (5, 1, publisher.gid)
    assert abs(info.source_timestamp - time.time_ns()) < 60_000_000_000
    assert subscription.take().data == 6 and subscription.take() is None
    assert subscription.counts == {"lost": 0, "overwritten": 0, "expired": 0, "malformed": 0, "received": 2}


def test_a_received_message_is_sent_on(node):
    first, second = node.create_publisher(Image, "a"), node.create_publisher(Image, "b")
    source, target = node.create_subscription(Image, "a"), node.create_subscription(Image, "b")
    first.publish(Image(data=bytes(range(200)), encoding="x"))
    image = source.take()
    second.publish(image)
    assert target.take() == image


def test_qos_decides_over_history_and_losses(node):
    latched = QoSProfile(depth=3, durability=gantry.DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(UInt64, "latched", latched)
    for value in range(5):
        publisher.publish(UInt64(data=value))
    late = node.create_subscription(UInt64, "latched", latched)
    assert [late.take().data for _ in range(3)] == [2, 3, 4]
    assert node.best_available_qos("latched").durability == gantry.DurabilityPolicy.TRANSIENT_LOCAL
    subscription = node.create_subscription(UInt64, "latched", QoSProfile(depth=2))
    for value in range(5):
        publisher.publish(UInt64(data=value))
    assert [subscription.take().data for _ in range(2)] == [3, 4]
    assert subscription.counts["overwritten"] == 3
    with pytest.raises(TypeError, match="is not a QoS"):
        node.create_publisher(UInt64, "x", "deep")


def test_incompatible_endpoints_say_why(node):
    events = []
    publisher = node.create_publisher(UInt64, "strict", QoSProfile(reliability=gantry.ReliabilityPolicy.BEST_EFFORT))
    subscription = node.create_subscription(UInt64, "strict", event_callbacks={"incompatible_qos": events.append})
    assert "RELIABLE" in publisher.mismatches()[0]
    with pytest.raises(gantry.GantryError, match="RELIABLE"):
        subscription.wait(0.01)
    executor = gantry.SingleThreadedExecutor()
    executor.add_node(node)
    while not events:
        executor.spin_once(timeout_sec=10)
    assert events[0]["total_count"] == 1 and events[0]["last_policy_kind"]


def test_matched_events_come(node):
    events = []
    publisher = node.create_publisher(UInt64, "matched", event_callbacks={"matched": events.append})
    node.create_subscription(UInt64, "matched")
    executor = gantry.SingleThreadedExecutor()
    executor.add_node(node)
    while not events:
        executor.spin_once(timeout_sec=10)
    assert events[0]["current_count"] == 1 and publisher.get_subscription_count() == 1
    with pytest.raises(ValueError, match="are not QoS events"):
        node.create_publisher(UInt64, "matched", event_callbacks={"match": print})


def test_a_wait_holds_no_lock_and_ends_at_a_message(node):
    publisher, subscription = node.create_publisher(UInt64, "wait"), node.create_subscription(UInt64, "wait")
    assert not subscription.wait(0.001)
    waited = []
    thread = threading.Thread(target=lambda: waited.append(subscription.wait(60)))
    thread.start()
    publisher.publish(UInt64(data=1))  # this thread runs although the other one waits
    thread.join(60)
    assert waited == [True] and subscription.take().data == 1


def test_a_for_loop_takes_until_the_end(node):
    publisher, subscription = node.create_publisher(UInt64, "loop", 100), node.create_subscription(UInt64, "loop", 100)
    thread = threading.Thread(target=lambda: [publisher.publish(UInt64(data=value)) for value in range(50)])
    thread.start()
    taken = []
    for message in subscription:
        taken.append(message.data)
        if len(taken) == 50:
            break
    thread.join()
    assert taken == list(range(50))


def test_threads_publish_and_take_at_once(node):
    count, publishers = 200, 4
    subscription = node.create_subscription(UInt64, "many", count * publishers)
    one = node.create_publisher(UInt64, "many", count * publishers)  # shared by all threads

    def publish():
        for value in range(count):
            one.publish(UInt64(data=value))

    threads = [threading.Thread(target=publish) for _ in range(publishers)]
    for thread in threads:
        thread.start()
    taken = [message.data for _, message in zip(range(count * publishers), subscription)]
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(list(range(count)) * publishers)


def test_when_slots_run_out_the_error_names_the_holder(node):
    publisher = node.create_publisher(Image, "full", 1, max_memory_bytes=4 << 20)
    subscription = node.create_subscription(Image, "full", 1)
    held = []
    with pytest.raises(gantry.GantryError, match=r"no memory for .* more bytes on topic /full.*\(pid \d+\)"):
        for _ in range(100):
            publisher.publish(Image(data=numpy.zeros(500_000, numpy.uint8)))
            held.append(subscription.take().data)
    del held[:]
    publisher.publish(Image(data=numpy.zeros(500_000, numpy.uint8)))
    subscription.set_max_held_samples(1)
    first = subscription.take()
    publisher.publish(Image(data=numpy.zeros(500_000, numpy.uint8)))
    with pytest.raises(gantry.GantryError, match="holds 1 samples of one publisher"):
        subscription.take()
    del first
    assert subscription.take() is not None


def test_the_graph_shows_nodes_and_endpoints(node):
    publisher = node.create_publisher(String, "/shown")
    node.create_subscription(String, "/shown")
    assert ("tester", "/") in node.get_node_names_and_namespaces()
    assert ("/shown", ["std_msgs/msg/String"]) in node.get_topic_names_and_types()
    assert node.count_publishers("/shown") == node.count_subscribers("/shown") == 1
    (info,) = node.get_publishers_info_by_topic("/shown")
    assert info.endpoint_gid == publisher.gid and info.node_name == "tester" and info.qos_profile.depth == 10
    assert "zero-copy" in node.explain("/shown")[0]
    assert node.wait_for_node("/tester", 10)
    changes = []
    node.create_graph_listener(lambda: changes.append(1))
    executor = gantry.SingleThreadedExecutor()
    executor.add_node(node)
    publisher.destroy()
    while not changes:
        executor.spin_once(timeout_sec=10)
    assert node.count_publishers("/shown") == 0


def test_names_are_remapped_and_arguments_heeded():
    arguments = ["x", "--ros-args", "-r", "chatter:=news", "-r", "__ns:=/left", "-p", "rate:=2.5"]
    with gantry.Node("talker", cli_args=arguments) as node:
        assert node.get_fully_qualified_name() == "/left/talker"
        assert node.create_publisher(String, "chatter").topic_name == "/left/news"
        assert node.declare_parameter("rate", 1.0).value == 2.5
        assert node.get_logger().name == "gantry.left.talker"
    with pytest.raises(gantry.GantryError, match="node|name"):
        gantry.Node("no name")


def test_destroyed_endpoints_are_errors(node):
    publisher, subscription = node.create_publisher(String, "gone"), node.create_subscription(String, "gone")
    publisher.destroy()
    subscription.destroy()
    with pytest.raises(gantry.GantryError, match="this publisher was destroyed"):
        publisher.publish(String())
    with pytest.raises(gantry.GantryError, match="this subscription was destroyed"):
        subscription.take()
    other = gantry.Node("other")
    other.destroy_node()
    other.destroy_node()
    with pytest.raises(gantry.GantryError, match="this node was destroyed"):
        other.create_publisher(String, "x")


def test_the_log_reaches_logging(caplog, node):
    with caplog.at_level(logging.DEBUG, logger="gantry"):
        node.create_publisher(String, "logged", QoSProfile(reliability=gantry.ReliabilityPolicy.BEST_EFFORT))
        node.create_subscription(String, "logged")
        deadline = time.monotonic() + 10
        while not any("RELIABLE" in record.getMessage() for record in caplog.records) and time.monotonic() < deadline:
            threading.Event().wait(0.01)
    names = {record.name for record in caplog.records if "RELIABLE" in record.getMessage()}
    assert names == {"gantry.tester"}
