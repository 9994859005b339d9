"""Tests of processes that die, fork and get signals, and of contexts that are created and destroyed."""

import os
import signal
import sys

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from support import HERE, IS_GANTRY, PATIENCE, RosTest, domains


class Death(RosTest):
    def test_a_talker_that_is_killed_is_gone_and_a_new_one_is_heard(self):
        node, heard = self.node(), []
        node.create_subscription(String, "chatter", lambda message: heard.append(message.data), 10)
        for life in (0, 10, 20):
            talker = self.peer("talker", "chatter", 10)
            talker.order(f"talk {life} 3")
            self.spin_until(lambda: heard[-3:] == [str(life + number) for number in range(3)], "a talker")
            talker.kill()
            self.spin_until(lambda: node.count_publishers("chatter") == 0, "the end of a talker")

    def test_a_listener_that_is_killed_is_forgotten_and_the_next_one_hears(self):
        publisher = self.node().create_publisher(String, "chatter", 10)
        for life in range(3):
            listener = self.peer("listener", "chatter", 10)
            self.match(publisher)
            publisher.publish(String(data=str(life)))
            listener.expect(f"heard {life}")
            listener.kill()
            self.match(publisher, 0)
            publisher.publish(String(data="nobody hears this"))

    def test_a_publisher_goes_on_while_its_subscription_stands_still(self):
        node = self.node()
        publisher = node.create_publisher(String, "chatter", 10)
        listener = self.peer("listener", "chatter", 10)
        self.match(publisher)
        listener.signal(signal.SIGSTOP)
        for number in range(200):
            publisher.publish(String(data=str(number)))
        listener.signal(signal.SIGCONT)
        listener.until("heard 199")
        listener.end()


class Signals(RosTest):
    def test_an_interrupt_ends_a_spin_in_order(self):
        spinner = self.peer("spinner")
        spinner.signal(signal.SIGINT)
        self.assertIn(spinner.line(), ("interrupted", "shut down", "ended"))
        self.assertEqual(spinner.status(), 0)

    def test_a_termination_ends_a_spin_in_order(self):
        spinner = self.peer("spinner")
        spinner.signal(signal.SIGTERM)
        # rclpy raises an exception if the context ends during a wait; between two waits, it does not.
        self.assertIn(spinner.line(), ("shut down", "ended"))
        self.assertEqual(spinner.status(), 0)

    def test_another_signal_ends_no_program(self):
        waker = self.peer("waker", int(signal.SIGUSR1))
        waker.signal(signal.SIGUSR1)
        waker.expect("ticks")
        self.assertEqual(waker.status(), 0)


class Contexts(RosTest):
    def test_a_context_is_made_and_shut_down_many_times(self):
        for number in range(20):
            context, heard = Context(), []
            rclpy.init(context=context, domain_id=self.domain)
            node, executor = Node("again", context=context), SingleThreadedExecutor(context=context)
            executor.add_node(node)
            node.create_subscription(String, "chatter", lambda message: heard.append(message.data), 1)
            publisher = node.create_publisher(String, "chatter", 1)
            while publisher.get_subscription_count() == 0:
                executor.spin_once(timeout_sec=0.01)
            publisher.publish(String(data=str(number)))
            executor.spin_once(timeout_sec=PATIENCE)
            while not heard:
                executor.spin_once(timeout_sec=PATIENCE)
            self.assertEqual(heard, [str(number)])
            # The order alternates: every second node outlives its context.
            ends = [lambda: rclpy.shutdown(context=context), node.destroy_node]
            for end in ends if number % 2 else reversed(ends):
                end()

    def test_contexts_of_one_domain_meet_and_those_of_two_do_not(self):
        same, other = Context(), Context()
        rclpy.init(context=same, domain_id=self.domain)
        rclpy.init(context=other, domain_id=next(domains))
        publisher = self.node().create_publisher(String, "chatter", 10)
        nodes, heard = [Node("listener", context=context) for context in (same, other)], ([], [])
        executors = [SingleThreadedExecutor(context=node.context) for node in nodes]
        for node, executor, to in zip(nodes, executors, heard):
            node.create_subscription(String, "chatter", lambda message, to=to: to.append(message.data), 10)
            executor.add_node(node)
        self.match(publisher)
        publisher.publish(String(data="hello"))
        while not heard[0]:
            executors[0].spin_once(timeout_sec=PATIENCE)
        executors[1].spin_once(timeout_sec=0.05)
        self.assertEqual(heard, (["hello"], []))
        self.assertEqual(nodes[1].count_publishers("chatter"), 0)
        for node in nodes:
            node.destroy_node()
            rclpy.shutdown(context=node.context)

    def test_a_wait_ends_when_its_context_is_shut_down(self):
        node = self.node()
        node.create_timer(0.01, lambda: rclpy.shutdown(context=self.context))
        try:
            while self.context.ok():
                self.executor.spin_once(timeout_sec=PATIENCE)
        except rclpy.executors.ExternalShutdownException:
            pass
        self.assertFalse(self.context.ok())


class Forks(RosTest):
    def exit_status(self, child):
        """Runs `child()` in a forked process, and returns its exit status: 0 if `child()` returns true."""
        process = os.fork()
        if process == 0:
            status = 1
            try:
                status = 0 if child() else 1
            except BaseException as error:
                os.write(2, f"{error!r}\n".encode())
            finally:
                os._exit(status)
        pid, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status)

    def test_a_parent_goes_on_after_a_fork(self):
        node, heard = self.node(), []
        node.create_subscription(String, "chatter", lambda message: heard.append(message.data), 10)
        publisher = node.create_publisher(String, "chatter", 10)
        self.match(publisher)
        self.assertEqual(self.exit_status(lambda: True), 0)
        publisher.publish(String(data="after"))
        self.spin_until(lambda: heard == ["after"])

    def test_a_child_runs_another_program(self):
        self.node().create_subscription(String, "chatter", lambda _: None, 10)
        child = lambda: os.execv(sys.executable, [sys.executable, str(HERE / "forked.py"), "once"])
        self.assertEqual(self.exit_status(child), 0)

    def test_a_child_makes_a_context_of_its_own(self):
        if not IS_GANTRY:
            self.skipTest("the threads of another middleware do not survive a fork")
        node, heard = self.node(), []
        node.create_subscription(String, "chatter", lambda message: heard.append(message.data), 10)

        def child():
            context = Context()
            rclpy.init(context=context, domain_id=self.domain)
            publisher = Node("child", context=context, enable_rosout=False).create_publisher(String, "chatter", 10)
            while publisher.get_subscription_count() == 0:
                pass
            publisher.publish(String(data="of the child"))
            rclpy.shutdown(context=context)
            return True

        self.assertEqual(self.exit_status(child), 0)
        self.spin_until(lambda: heard == ["of the child"])

    def test_a_program_forks_before_it_uses_ros(self):
        peer = self.process([sys.executable, str(HERE / "forked.py"), "both"])
        peer.expect("child heard parent")
        self.assertEqual(peer.status(), 0)
