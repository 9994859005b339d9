"""Tests of QoS: history of late joiners, compatibility, deadline, liveliness, lifespan, matched events."""

from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.qos import (
    DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSCompatibility, QoSPolicyKind, QoSProfile, ReliabilityPolicy,
    qos_check_compatible,
)
from std_msgs.msg import String

from support import RosTest

LATCHED = QoSProfile(depth=3, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def milliseconds(number):
    return Duration(nanoseconds=number * 1_000_000)


class Qos(RosTest):
    def setUp(self):
        super().setUp()
        self.heard, self.events = [], []

    def publisher(self, qos, node=None, **events):
        callbacks = PublisherEventCallbacks(use_default_callbacks=False, **self.callbacks(events))
        return (node or self.node("talker")).create_publisher(String, "chatter", qos, event_callbacks=callbacks)

    def subscription(self, qos, node=None, **events):
        callbacks = SubscriptionEventCallbacks(use_default_callbacks=False, **self.callbacks(events))
        heard = lambda message: self.heard.append(message.data)
        node = node or self.node("listener")
        return node.create_subscription(String, "chatter", heard, qos, event_callbacks=callbacks)

    def callbacks(self, events):
        """Makes event callbacks that append a word and the status to the list of events."""
        return {name: lambda status, word=word: self.events.append((word, status)) for name, word in events.items()}

    def statuses(self, word):
        return [status for name, status in self.events if name == word]

    def test_a_late_subscription_hears_what_is_kept(self):
        publisher = self.publisher(LATCHED)
        for number in range(5):
            publisher.publish(String(data=str(number)))
        self.subscription(LATCHED)
        self.spin_until(lambda: len(self.heard) == 3)
        publisher.publish(String(data="5"))
        self.spin_until(lambda: len(self.heard) == 4)
        self.assertEqual(self.heard, ["2", "3", "4", "5"])

    def test_a_volatile_subscription_hears_only_what_is_new(self):
        publisher = self.publisher(LATCHED)
        publisher.publish(String(data="old"))
        self.subscription(3)
        self.match(publisher)
        publisher.publish(String(data="new"))
        self.spin_until(lambda: self.heard)
        self.assertEqual(self.heard, ["new"])

    def test_both_sides_hear_of_an_incompatible_reliability(self):
        best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        publisher = self.publisher(best_effort, incompatible_qos="offered")
        self.subscription(1, incompatible_qos="requested")
        self.spin_until(lambda: self.statuses("offered") and self.statuses("requested"), "both events")
        for word in ("offered", "requested"):
            status = self.statuses(word)[-1]
            self.assertEqual((status.total_count, status.last_policy_kind), (1, QoSPolicyKind.RELIABILITY))
        self.assertEqual(publisher.get_subscription_count(), 0)
        compatibility, reason = qos_check_compatible(best_effort, QoSProfile(depth=1))
        self.assertEqual(compatibility, QoSCompatibility.ERROR)
        self.assertTrue(reason)

    def test_a_volatile_publisher_is_incompatible_with_a_latched_subscription(self):
        self.publisher(3, incompatible_qos="offered")
        self.subscription(LATCHED, incompatible_qos="requested")
        self.spin_until(lambda: self.statuses("offered") and self.statuses("requested"), "both events")
        self.assertEqual(self.statuses("requested")[-1].last_policy_kind, QoSPolicyKind.DURABILITY)

    def test_both_sides_hear_of_a_missed_deadline(self):
        qos = QoSProfile(depth=10, deadline=milliseconds(50))
        publisher = self.publisher(qos, deadline="offered")
        self.subscription(qos, deadline="requested")
        self.match(publisher)
        publisher.publish(String(data="only one"))
        self.spin_until(lambda: self.statuses("offered") and self.statuses("requested"), "two missed deadlines")
        self.assertGreaterEqual(self.statuses("requested")[-1].total_count, 1)

    def test_a_publisher_that_does_not_assert_its_liveliness_loses_it(self):
        qos = QoSProfile(
            depth=10, liveliness=LivelinessPolicy.MANUAL_BY_TOPIC, liveliness_lease_duration=milliseconds(300)
        )
        publisher = self.publisher(qos, liveliness="lost")
        self.subscription(qos, liveliness="changed")
        self.match(publisher)
        publisher.assert_liveliness()
        alive = lambda: any(status.alive_count == 1 for status in self.statuses("changed"))
        self.spin_until(alive, "a publisher that is alive")
        self.spin_until(lambda: self.statuses("lost"), "the loss")
        self.spin_until(lambda: self.statuses("changed")[-1].not_alive_count == 1, "a publisher that is not alive")

        def returns():
            publisher.assert_liveliness()
            return self.statuses("changed")[-1].alive_count == 1

        self.spin_until(returns, "its return")

    def test_both_sides_hear_who_is_matched(self):
        node = self.node("both")
        self.publisher(1, node, matched="publisher")
        subscription = self.subscription(1, node, matched="subscription")
        self.spin_until(lambda: self.statuses("publisher") and self.statuses("subscription"), "both events")
        for word in ("publisher", "subscription"):
            self.assertEqual((self.statuses(word)[-1].current_count, self.statuses(word)[-1].total_count), (1, 1))
        node.destroy_subscription(subscription)
        self.spin_until(lambda: self.statuses("publisher")[-1].current_count == 0, "the end of the subscription")
        self.assertEqual(self.statuses("publisher")[-1].current_count_change, -1)

    def test_a_message_whose_life_is_over_is_not_heard(self):
        qos = QoSProfile(depth=3, durability=DurabilityPolicy.TRANSIENT_LOCAL, lifespan=milliseconds(100))
        publisher, over = self.publisher(qos), []
        publisher.publish(String(data="old"))
        self.node("clock").create_timer(0.5, lambda: over.append(1))
        self.spin_until(lambda: over)
        self.subscription(LATCHED)
        self.match(publisher)
        publisher.publish(String(data="new"))
        self.spin_until(lambda: self.heard)
        self.assertEqual(self.heard, ["new"])

    def test_the_qos_that_holds_is_the_one_that_was_asked_for(self):
        qos = QoSProfile(
            history=HistoryPolicy.KEEP_LAST, depth=7, reliability=ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL, deadline=milliseconds(1500), lifespan=milliseconds(2500),
            liveliness=LivelinessPolicy.MANUAL_BY_TOPIC, liveliness_lease_duration=milliseconds(3500),
        )
        self.publisher(qos)
        node = self.node("asker")
        self.spin_until(lambda: node.get_publishers_info_by_topic("chatter"), "the publisher in the graph")
        held = node.get_publishers_info_by_topic("chatter")[0].qos_profile
        for policy in ("reliability", "durability", "deadline", "lifespan", "liveliness", "liveliness_lease_duration"):
            self.assertEqual(getattr(held, policy), getattr(qos, policy), policy)
