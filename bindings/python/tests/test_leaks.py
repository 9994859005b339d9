"""Tests that nothing leaks: the numbers of references and descriptors and the memory stay constant."""

import gc
import os
import statistics
import sys
import threading
import time
import weakref

import numpy
import pytest

import gantry
from gantry.messages.sensor_msgs.msg import Image
from gantry.messages.std_msgs.msg import UInt64


def _figures():
    gc.collect()
    return len(os.listdir("/proc/self/fd")), len(gc.get_objects())


def _references():
    """The numbers of references to each object that the garbage collector tracks, and to some shared constants."""
    gc.collect()
    shared = [None, True, False, (), b"", "", numpy.dtype("u1"), *map(sys.intern, ("data", "_view", "header", "typestr"))]
    return {id(thing): sys.getrefcount(thing) for thing in [*gc.get_objects(), *shared]}


@pytest.mark.parametrize("count", [20_000, pytest.param(500_000, marks=pytest.mark.slow)])
def test_references_and_descriptors_stay_flat(node, count):
    """Each round publishes and takes two messages."""
    publisher, subscription = node.create_publisher(Image, "flat", 1), node.create_subscription(Image, "flat", 1)
    small, numbers = node.create_publisher(UInt64, "small", 1), node.create_subscription(UInt64, "small", 1)

    def rounds(count):
        for value in range(count):
            with publisher.loan(data=2000, header={"frame_id": "x"}) as message:
                message.data[:] = value % 256
            taken = subscription.take()
            assert taken.data[0] == value % 256 and taken.header.frame_id == "x"
            small.publish(UInt64(data=value))
            assert numbers.take().data == value

    rounds(2000)
    memory = publisher.memory_bytes
    references = _references()
    blocks, before = sys.getallocatedblocks(), _figures()
    rounds(count)
    after, new_blocks = _figures(), sys.getallocatedblocks() - blocks
    assert after[0] == before[0] and after[1] <= before[1] + 50
    assert new_blocks < 1000
    assert [number for one, number in _references().items() if number > references.get(one, number) + count // 10] == []
    assert publisher.memory_bytes == memory


def test_nodes_and_endpoints_leave_nothing():
    def once():
        with gantry.Node("again") as node:
            publisher = node.create_publisher(UInt64, "again")
            subscription = node.create_subscription(UInt64, "again", lambda message: None)
            node.create_timer(1.0, lambda: None)
            publisher.publish(UInt64())
            gantry.spin_once(node, timeout_sec=1)
            subscription._native.descriptor()
            return weakref.ref(node)

    for _ in range(5):
        once()
    before = _figures()
    weak = [once() for _ in range(100)]
    after = _figures()
    assert after[0] <= before[0] and after[1] <= before[1] + 300
    assert sum(one() is not None for one in weak) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("wait", ["subscription.wait", "service.wait", "publisher.wait_for_subscriptions", "spin_once"])
def test_a_wait_leaves_the_interpreter_to_other_threads(node, wait, capsys):
    """Another thread counts as fast during a wait as during a sleep. If a wait held Python's lock, the thread could not
    count."""
    subscription, service = node.create_subscription(UInt64, "never"), node.create_service("std_srvs/srv/SetBool", "never")
    publisher = node.create_publisher(UInt64, "nobody")
    waits = {
        "subscription.wait": subscription.wait,
        "service.wait": service.wait,
        "publisher.wait_for_subscriptions": lambda seconds: publisher.wait_for_subscriptions(1, seconds),
        "spin_once": lambda seconds: gantry.spin_once(node, timeout_sec=seconds),
    }

    def counted_during(blocked):
        count, ends = [0], threading.Event()

        def work():
            while not ends.is_set():
                count[0] += 1

        thread = threading.Thread(target=work)
        thread.start()
        blocked(0.5)
        ends.set()
        thread.join()
        return count[0]

    # Waits and sleeps alternate, because other programs use the machine at the same time.
    rounds = [(counted_during(waits[wait]), counted_during(time.sleep)) for _ in range(5)]
    ratio = statistics.median(beside_wait / beside_sleep for beside_wait, beside_sleep in rounds)
    with capsys.disabled():
        print(f"\n{wait}: {ratio:.2f} of the work beside a sleep")
    assert ratio > 0.5
