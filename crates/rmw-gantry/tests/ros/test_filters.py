"""Tests of content filters: with the C program `filters.c` on rcl, and with rclpy if it supports them (Kilted)."""

import inspect

import rclpy.node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Int32

from support import IS_GANTRY, ProgramTest, RosTest

HAS_FILTERS = "content_filter_options" in inspect.signature(rclpy.node.Node.create_subscription).parameters


class FiltersOfRcl(ProgramTest):
    def test_messages_that_do_not_pass_wake_no_wait(self):
        if not IS_GANTRY:
            self.skipTest("other middlewares deliver messages and filters later")
        run = self.run_program(self.compile("filters.c", "filters"))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        field, parameter, last = run.stdout.splitlines()
        self.assertIn("column 1 of the filter, at `date = 'rear'`: std_msgs/msg/String has no field `date`", field)
        self.assertIn("there is no parameter %1: only %0 was given", parameter)
        self.assertEqual(last, "filtered")


class FiltersOfRclpy(RosTest):
    def setUp(self):
        super().setUp()
        if not HAS_FILTERS:
            self.skipTest("this rclpy has no content filters")
        self.heard = []

    def subscription(self, expression, parameters, qos=10):
        from rclpy.subscription_content_filter_options import ContentFilterOptions

        return self.node("listener").create_subscription(
            Int32, "numbers", lambda message: self.heard.append(message.data), qos,
            content_filter_options=ContentFilterOptions(expression, parameters),
        )

    def publish(self, publisher, numbers):
        for number in numbers:
            publisher.publish(Int32(data=number))

    def test_callbacks_get_the_messages_that_pass(self):
        publisher = self.node("talker").create_publisher(Int32, "numbers", 10)
        subscription = self.subscription("data >= %0 OR data = -1", ["6"])
        self.assertTrue(subscription.is_cft_enabled)
        self.match(publisher)
        self.publish(publisher, [*range(8), -1])
        self.spin_until(lambda: len(self.heard) == 3)
        self.assertEqual(self.heard, [6, 7, -1])
        found = subscription.get_content_filter()
        self.assertEqual((found.filter_expression, found.expression_parameters), ("data >= %0 OR data = -1", ["6"]))

    def test_the_history_of_a_late_subscription_is_filtered(self):
        qos = QoSProfile(depth=200, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publisher = self.node("talker").create_publisher(Int32, "numbers", qos)
        self.publish(publisher, range(200))
        self.subscription("data > 50 AND NOT data BETWEEN 60 AND 189", [], qos)
        self.spin_until(lambda: len(self.heard) == 19)
        self.publish(publisher, [0, 1000])
        self.spin_until(lambda: len(self.heard) == 20)
        self.assertEqual(self.heard, [*range(51, 60), *range(190, 200), 1000])

    def test_a_filter_that_cannot_be_used_is_an_error(self):
        with self.assertRaises(Exception) as raised:
            self.subscription("date > 3", [])
        if IS_GANTRY:
            self.assertIn("has no field `date`; its fields are data", str(raised.exception))
