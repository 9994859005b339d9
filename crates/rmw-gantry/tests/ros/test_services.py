"""Tests of services, parameters, actions, timers and guard conditions."""

import threading

from action_msgs.msg import GoalStatus
from rcl_interfaces.msg import ParameterEvent
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.executors import MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import qos_profile_parameter_events
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci
from test_msgs.service_fixtures import get_test_srv
from test_msgs.srv import Arrays, BasicTypes

from support import PATIENCE, RosTest

CALLS = 100


class Services(RosTest):
    def test_each_call_has_its_response(self):
        peer = self.peer("server", "switch")
        client = self.node().create_client(SetBool, "switch")
        self.assertTrue(client.wait_for_service(timeout_sec=PATIENCE))
        for number in range(CALLS):
            response = self.result(client.call_async(SetBool.Request(data=number % 2 == 0)))
            self.assertEqual((response.success, response.message), (number % 2 == 0, f"Größe {number % 2 == 0}"))
        peer.end()

    def test_calls_that_overlap_have_their_own_responses(self):
        node = self.node()

        def answer(request, response):
            response.int32_value = request.int32_value + 1
            return response

        node.create_service(BasicTypes, "count", answer)
        clients = [node.create_client(BasicTypes, "count") for _ in range(3)]
        for client in clients:
            self.spin_until(client.service_is_ready)
        futures = [
            (number, client.call_async(BasicTypes.Request(int32_value=number)))
            for number, client in enumerate(clients * 3)
        ]
        for number, future in futures:
            self.assertEqual(self.result(future).int32_value, number + 1)

    def test_every_field_of_a_service_arrives(self):
        for name, kind in (("Arrays", Arrays), ("BasicTypes", BasicTypes)):
            request, response = get_test_srv(name)[-1]
            node, asked = self.node(f"node_{name.lower()}"), []
            node.create_service(kind, name.lower(), lambda request, _: (asked.append(request), response)[1])
            client = node.create_client(kind, name.lower())
            self.spin_until(client.service_is_ready)
            self.assertEqual(self.result(client.call_async(request)), response)
            self.assertEqual(asked, [request])

    def test_a_server_that_is_killed_is_not_available(self):
        peer = self.peer("server", "switch")
        client = self.node().create_client(SetBool, "switch")
        self.assertTrue(client.wait_for_service(timeout_sec=PATIENCE))
        peer.kill()
        self.spin_until(lambda: not client.service_is_ready(), "the end of the service")
        self.peer("server", "switch")
        self.spin_until(client.service_is_ready, "the next server")
        self.assertTrue(self.result(client.call_async(SetBool.Request(data=True))).success)


class Parameters(RosTest):
    def test_another_node_lists_gets_and_sets_them(self):
        peer, node, events = self.peer("robot"), self.node(), []
        node.create_subscription(ParameterEvent, "/parameter_events", events.append, qos_profile_parameter_events)
        client = AsyncParameterClient(node, "robot")
        self.assertTrue(client.wait_for_services(timeout_sec=PATIENCE))
        self.spin_until(lambda: node.count_publishers("/parameter_events") >= 1)
        names = self.result(client.list_parameters()).result.names
        self.assertLessEqual({"speed", "name", "joints"}, set(names))
        values = self.result(client.get_parameters(["speed", "name", "joints"])).values
        self.assertEqual((values[0].double_value, values[1].string_value), (1.5, "Günther"))
        self.assertEqual(list(values[2].string_array_value), ["a", "b"])
        results = self.result(client.set_parameters([Parameter("speed", value=2.5), Parameter("speed", value="fast")]))
        self.assertEqual([result.successful for result in results.results], [True, False])
        self.assertEqual(self.result(client.get_parameters(["speed"])).values[0].double_value, 2.5)
        self.assertEqual(self.result(client.describe_parameters(["speed"])).descriptors[0].name, "speed")
        changed = lambda: [new for event in events for new in event.changed_parameters if event.node == "/robot"]
        self.spin_until(changed, "a parameter event")
        self.assertEqual([(new.name, new.value.double_value) for new in changed()], [("speed", 2.5)])
        peer.end()


class Actions(RosTest):
    def act(self, execute):
        """Starts an action server that executes goals with `execute` on another thread, and returns a client."""
        node, executor = self.node("server"), MultiThreadedExecutor(num_threads=2, context=self.context)
        self.executor.remove_node(node)
        server = ActionServer(
            node, Fibonacci, "fibonacci", execute, cancel_callback=lambda _: CancelResponse.ACCEPT
        )
        executor.add_node(node)
        thread = threading.Thread(target=executor.spin)
        thread.start()

        def close():
            executor.shutdown(timeout_sec=PATIENCE)
            thread.join(PATIENCE)
            server.destroy()

        self.addCleanup(close)
        client = ActionClient(self.node("client"), Fibonacci, "fibonacci")
        self.addCleanup(client.destroy)
        self.spin_until(client.server_is_ready, "the action server")
        return client

    def test_a_goal_has_feedback_and_a_result(self):
        heard_all = threading.Event()

        def execute(goal):
            sequence = [0, 1]
            for _ in range(goal.request.order):
                sequence.append(sequence[-1] + sequence[-2])
                goal.publish_feedback(Fibonacci.Feedback(sequence=sequence))
            # The goal ends only after its feedback has arrived, because rclpy drops feedback of ended goals.
            heard_all.wait(PATIENCE)
            goal.succeed()
            return Fibonacci.Result(sequence=sequence)

        client, feedback = self.act(execute), []
        goal = self.result(client.send_goal_async(
            Fibonacci.Goal(order=5), feedback_callback=lambda message: feedback.append(list(message.feedback.sequence))
        ))
        self.assertTrue(goal.accepted)
        self.spin_until(lambda: len(feedback) == 5, "all feedback")
        heard_all.set()
        answer = self.result(goal.get_result_async())
        self.assertEqual(answer.status, GoalStatus.STATUS_SUCCEEDED)
        self.assertEqual(list(answer.result.sequence), [0, 1, 1, 2, 3, 5, 8])
        self.assertEqual(feedback[-1], [0, 1, 1, 2, 3, 5, 8])

    def test_a_goal_is_cancelled(self):
        started = threading.Event()

        def execute(goal):
            asked = threading.Event()
            started.set()
            while not goal.is_cancel_requested:
                asked.wait(0.01)
            goal.canceled()
            return Fibonacci.Result(sequence=[7])

        client = self.act(execute)
        goal = self.result(client.send_goal_async(Fibonacci.Goal(order=5)))
        self.spin_until(started.is_set, "the start of the goal")
        self.assertEqual(len(self.result(goal.cancel_goal_async()).goals_canceling), 1)
        answer = self.result(goal.get_result_async())
        self.assertEqual((answer.status, list(answer.result.sequence)), (GoalStatus.STATUS_CANCELED, [7]))


class Waiting(RosTest):
    def test_timers_fire_as_often_as_they_are_due(self):
        node, ticks = self.node(), []
        fast = node.create_timer(0.01, lambda: ticks.append("fast"))
        slow = node.create_timer(0.05, lambda: ticks.append("slow"))
        self.spin_until(lambda: ticks.count("slow") == 3)
        self.assertGreaterEqual(ticks.count("fast"), 5)
        fast.cancel()
        slow.cancel()
        count = len(ticks)
        self.executor.spin_once(timeout_sec=0.05)
        self.assertEqual(len(ticks), count)

    def test_a_guard_condition_of_another_thread_ends_a_wait(self):
        node, called = self.node(), []
        guard = node.create_guard_condition(lambda: called.append(1))
        waits = threading.Event()
        node.create_timer(0.0, lambda: waits.set()).oneshot = True

        def trigger():
            waits.wait(PATIENCE)
            guard.trigger()

        thread = threading.Thread(target=trigger)
        thread.start()
        self.spin_until(lambda: called, "the guard condition")
        thread.join()

    def test_a_wait_without_anything_ends_at_its_time(self):
        self.node()
        self.executor.spin_once(timeout_sec=0.0)
        self.executor.spin_once(timeout_sec=0.05)
