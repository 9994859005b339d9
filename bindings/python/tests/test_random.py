"""Tests that random operations on nodes, endpoints, views, loans and threads never change a view."""

import os
import random
import threading

import numpy
import pytest

import gantry
from gantry.messages.sensor_msgs.msg import Image


def image(value, size):
    return Image(data=numpy.full(size, value, numpy.uint8), encoding="x")


class _Actor:
    """Executes random operations on nodes, endpoints, views and loans. Each view must keep its first values."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.publishers, self.subscriptions, self.views, self.loans = [], [], [], [], []

    def any(self, things):
        return self.random.choice(things) if things else None

    def step(self):
        self.random.choice(
            [self.make_node, self.make_publisher, self.make_subscription, self.drop, self.check]
            + [self.publish, self.take, self.loan, self.write, self.publish_loan] * 6
        )()

    def make_node(self):
        if len(self.nodes) < 3:
            self.nodes.append(gantry.Node(f"actor{self.random.randrange(1 << 30)}"))

    def topic(self):
        return f"random{self.random.randrange(3)}"

    def make_publisher(self):
        if (node := self.any(self.nodes)) and len(self.publishers) < 6:
            self.publishers.append(node.create_publisher(Image, self.topic(), self.random.randrange(1, 5)))

    def make_subscription(self):
        if (node := self.any(self.nodes)) and len(self.subscriptions) < 6:
            self.subscriptions.append(node.create_subscription(Image, self.topic(), self.random.randrange(1, 5)))

    def publish(self):
        if publisher := self.any(self.publishers):
            publisher.publish(image(self.random.randrange(256), self.random.randrange(1, 20_000)))

    def take(self):
        if (subscription := self.any(self.subscriptions)) and (message := subscription.take()):
            view = self.random.choice([lambda: message.data, lambda: message.data[::2], lambda: memoryview(message.data)])()
            self.views.append((int(view[0]), view))
            if len(self.views) > 40:
                del self.views[self.random.randrange(40)]

    def loan(self):
        if (publisher := self.any(self.publishers)) and len(self.loans) < 8:
            self.loans.append([publisher, publisher.loan(data=self.random.randrange(1, 20_000)), None])

    def write(self):
        if loan := self.any(self.loans):
            try:
                array = loan[1].data
                array[:] = self.random.randrange(256)
                loan[2] = array if self.random.random() < 0.3 else None
            except gantry.GantryError as error:
                assert "was published or returned" in str(error)

    def publish_loan(self):
        if loan := self.any(self.loans):
            publisher, message, array = loan
            try:
                message.data[:] = self.random.randrange(256)
                publisher.publish(message)
                self.forget(loan)
                assert array is None
            except gantry.GantryError as error:
                known = ("is alive and could still write", "was destroyed", "was published or returned")
                assert any(part in str(error) for part in known), error
                if array is None:
                    self.forget(loan)

    def forget(self, loan):
        self.loans = [other for other in self.loans if other is not loan]

    def drop(self):
        things = self.random.choice([self.nodes, self.publishers, self.subscriptions, self.views, self.loans])
        if things:
            thing = things.pop(self.random.randrange(len(things)))
            if hasattr(thing, "destroy_node"):
                thing.destroy_node()
                self.publishers.clear()
                self.subscriptions.clear()
            elif hasattr(thing, "destroy") and self.random.random() < 0.5:
                thing.destroy()

    def check(self):
        for value, view in self.views:
            assert (numpy.asarray(view) == value).all()


@pytest.mark.parametrize("threads", [1, 4])
def test_random_operations_never_change_a_view(threads):
    steps = int(os.environ.get("GANTRY_PYTHON_STEPS", "10000")) // threads
    failures = []

    def act(seed):
        actor = _Actor(seed)
        try:
            for _ in range(steps):
                actor.step()
            actor.check()
        except BaseException as error:
            failures.append(error)
        finally:
            for node in actor.nodes:
                node.destroy_node()

    workers = [threading.Thread(target=act, args=(seed,)) for seed in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
