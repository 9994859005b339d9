"""Tests of executors: callbacks, timers, groups, exceptions, services, parameters."""

import gc
import threading
import time
import weakref

import pytest

import gantry
from gantry.messages.example_interfaces.srv import AddTwoInts
from gantry.messages.std_msgs.msg import UInt64
from gantry.messages.std_srvs.srv import SetBool


@pytest.fixture
def executor(node):
    with gantry.SingleThreadedExecutor() as made:
        made.add_node(node)
        yield made


def spin_until(executor, condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        executor.spin_once(timeout_sec=1)


def test_callbacks_get_messages_and_info(node, executor):
    plain, with_info = [], []
    publisher = node.create_publisher(UInt64, "count", 100)
    node.create_subscription(UInt64, "count", lambda message: plain.append(message.data), 100)
    node.create_subscription(UInt64, "count", lambda message, info: with_info.append((message.data, info.sequence)), 100)
    for value in range(20):
        publisher.publish(UInt64(data=value))
    spin_until(executor, lambda: len(plain) == len(with_info) == 20)
    assert plain == list(range(20)) and with_info[3] == (3, 4)


def test_a_source_that_is_made_during_a_spin_runs(node, executor):
    publisher = node.create_publisher(UInt64, "late")
    taken = []

    def make():
        timer.cancel()
        node.create_subscription(UInt64, "late", taken.append)
        publisher.publish(UInt64(data=1))

    timer = node.create_timer(0.001, make)
    spin_until(executor, lambda: taken)
    assert timer.is_canceled()


def test_timers_keep_their_schedule(node, executor):
    ticks = []
    timer = node.create_timer(0.01, lambda: ticks.append(1))
    spin_until(executor, lambda: len(ticks) >= 5)
    timer.cancel()
    count = len(ticks)
    executor.spin_once(timeout_sec=0.05)
    assert len(ticks) == count and timer.time_until_next_call() is None
    timer.reset()
    spin_until(executor, lambda: len(ticks) > count)
    with pytest.raises(gantry.GantryError):
        node.create_timer(0, print)


def test_a_guard_condition_wakes_a_spin(node, executor):
    woken = []
    guard = node.create_guard_condition(lambda: woken.append(threading.current_thread()))
    thread = threading.Thread(target=guard.trigger)
    thread.start()
    spin_until(executor, lambda: woken)
    thread.join()
    assert woken == [threading.main_thread()]


def test_an_exception_ends_the_spin_and_the_next_one_goes_on(node, executor):
    publisher = node.create_publisher(UInt64, "errors")
    seen = []

    def callback(message):
        seen.append(message.data)
        if message.data == 1:
            raise ValueError("one")

    node.create_subscription(UInt64, "errors", callback)
    for value in range(3):
        publisher.publish(UInt64(data=value))
    with pytest.raises(ValueError, match="one"):
        executor.spin()
    spin_until(executor, lambda: len(seen) == 3)


def test_spin_ends_by_cancel_and_shutdown(program, node, executor):
    node.create_timer(0.001, executor.cancel)
    executor.spin()
    for timer in list(node._entities):
        timer.destroy()
    thread = threading.Thread(target=gantry.shutdown)
    thread.start()
    executor.spin()
    thread.join()
    assert not gantry.ok()
    assert not node.create_subscription(UInt64, "x").wait(60)


def test_services_answer(node, executor):
    def add(request, response):
        response.sum = request.a + request.b
        return response

    service = node.create_service(AddTwoInts, "add", add)
    client = node.create_client(AddTwoInts, "add")
    assert client.wait_for_service(10) and client.service_is_ready()
    future = client.call_async(AddTwoInts.Request(a=2, b=3))
    executor.spin_until_future_complete(future, timeout_sec=30)
    assert future.result().sum == 5
    assert service.get_client_count() == 1
    # A call on another thread works while this thread spins.
    results = []
    caller = threading.Thread(target=lambda: results.append(client.call({"a": 1, "b": 1}, timeout_sec=30).sum))
    caller.start()
    spin_until(executor, lambda: results)
    caller.join()
    assert results == [2]


def test_a_service_without_callback_is_taken_from(node):
    service, client = node.create_service(SetBool, "switch"), node.create_client(SetBool, "switch")
    future = client.call_async(SetBool.Request(data=True))
    assert service.wait(10)
    request, respond = service.take_request()
    assert request.data is True
    respond(SetBool.Response(success=True, message="on"))
    while not future.done():
        client._native.wait(1)
        client._run()
    assert future.result().message == "on"


def test_calls_without_an_answer_are_errors(node):
    client = node.create_client(SetBool, "nothing")
    with pytest.raises(gantry.GantryError, match="no server offers /nothing"):
        client.call_async(SetBool.Request())
    assert not client.wait_for_service(0.01)
    service = node.create_service(SetBool, "nothing")
    with pytest.raises(TimeoutError, match="was not answered within 0.05 s"):
        client.call(SetBool.Request(), timeout_sec=0.05)
    future = client.call_async(SetBool.Request())
    service.destroy()
    deadline = time.monotonic() + 30
    while not future.done() and time.monotonic() < deadline:
        client._native.wait(0.1)
        client._run()
    with pytest.raises(gantry.GantryError, match="will not be answered"):
        future.result()
    with pytest.raises(TypeError, match="must return the response"):
        node.create_service(SetBool, "none", lambda request, response: None)
        other = node.create_client(SetBool, "none")
        future = other.call_async(SetBool.Request())
        gantry.spin_until_future_complete(node, future, timeout_sec=30)


def test_threads_run_callbacks_at_once(node):
    both = threading.Barrier(2, timeout=30)
    met = []

    def meet(_message):
        both.wait()
        met.append(1)

    publisher = node.create_publisher(UInt64, "meet")
    for _ in range(2):
        node.create_subscription(UInt64, "meet", meet, callback_group=gantry.ReentrantCallbackGroup())
    publisher.publish(UInt64())
    with gantry.MultiThreadedExecutor(4) as executor:
        executor.add_node(node)
        spin_until(executor, lambda: len(met) == 2)


def test_a_group_excludes(node):
    running, most, done = [0], [0], []
    group = gantry.MutuallyExclusiveCallbackGroup()

    def run(_message):
        running[0] += 1
        most[0] = max(most[0], running[0])
        threading.Event().wait(0.005)
        running[0] -= 1
        done.append(1)

    publisher = node.create_publisher(UInt64, "exclusive", 10)
    for _ in range(3):
        node.create_subscription(UInt64, "exclusive", run, 10, callback_group=group)
    for _ in range(5):
        publisher.publish(UInt64())
    with gantry.MultiThreadedExecutor(4) as executor:
        executor.add_node(node)
        spin_until(executor, lambda: len(done) == 15)
    assert most == [1]


def test_an_exception_of_a_thread_ends_the_spin(node):
    node.create_timer(0.001, lambda: 1 / 0)
    with gantry.MultiThreadedExecutor(2) as executor:
        executor.add_node(node)
        with pytest.raises(ZeroDivisionError):
            executor.spin()


def test_a_node_is_in_one_executor(node, executor):
    with pytest.raises(RuntimeError, match="in another executor"):
        gantry.SingleThreadedExecutor().add_node(node)
    assert not executor.add_node(node)
    executor.remove_node(node)
    assert gantry.SingleThreadedExecutor().add_node(node)


def test_a_node_that_nothing_refers_to_leaves():
    class Talker(gantry.Node):
        def __init__(self):
            super().__init__("forgotten")
            self.publisher = self.create_publisher(UInt64, "forgotten")
            self.create_timer(0.1, self.tick)
            self.create_subscription(UInt64, "forgotten", self.heard)
            self.declare_parameter("x", 1)
            self.add_on_set_parameters_callback(self.check)

        def tick(self):
            self.publisher.publish(UInt64())

        def heard(self, message):
            del message

        def check(self, parameters):
            del parameters
            return gantry.SetParametersResult(successful=True)

    talker = Talker()
    gantry.spin_once(talker, timeout_sec=1)
    weak = weakref.ref(talker)
    del talker
    gc.collect()
    assert weak() is None
    with gantry.Node("observer") as observer:
        deadline = time.monotonic() + 10
        while "forgotten" in observer.get_node_names() and time.monotonic() < deadline:
            observer.wait_for_graph_change(0.1)
        assert "forgotten" not in observer.get_node_names()


def test_parameters_are_declared_set_and_refused(node):
    assert node.declare_parameter("rate", 2.0).value == 2.0
    node.declare_parameters("camera", [("frame", "map"), ("sizes", [1, 2])])
    assert node.get_parameter("camera.sizes").value == [1, 2]
    (result,) = node.set_parameters([gantry.Parameter("rate", 3.0)])
    assert result.successful and node.get_parameter("rate").value == 3.0
    (result,) = node.set_parameters([gantry.Parameter("rate", "fast")])
    assert not result.successful and "rate" in result.reason
    asked = []

    def check(parameters):
        asked.append(parameters[0].name)
        return gantry.SetParametersResult(successful=parameters[0].value != 4.0, reason="not four")

    node.add_on_set_parameters_callback(check)
    (result,) = node.set_parameters([gantry.Parameter("rate", 4.0)])
    assert not result.successful and "not four" in result.reason and asked == ["rate"]
    assert set(node.get_parameters_by_prefix("camera")) == {"frame", "sizes"}
    assert not node.has_parameter("speed")
    with pytest.raises(gantry.GantryError, match="speed"):
        node.get_parameter("speed")


def test_other_programs_set_parameters_while_nothing_spins(node):
    node.declare_parameter("rate", 1)
    asked = []
    node.add_on_set_parameters_callback(
        lambda parameters: asked.append(threading.current_thread()) or gantry.SetParametersResult(successful=True)
    )
    with gantry.Node("setter") as setter:
        client = setter.create_client("rcl_interfaces/srv/SetParameters", "/tester/set_parameters")
        assert client.wait_for_service(10)
        value = {"type": 2, "integer_value": 5}
        response = client.call({"parameters": [{"name": "rate", "value": value}]}, timeout_sec=30)
        assert response.results[0].successful
    assert node.get_parameter("rate").value == 5 and asked[0] is not threading.main_thread()


def test_simulated_time_moves_timers(node, executor):
    clock = node.create_publisher("rosgraph_msgs/msg/Clock", "/clock", 1)
    node.set_parameters([gantry.Parameter("use_sim_time", True)])
    assert clock.wait_for_subscriptions(1, 10)
    clock.publish({"clock": {"sec": 100}})
    deadline = time.monotonic() + 10
    while node.get_clock().now().nanoseconds != 100_000_000_000:
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)
    ticks = []
    node.create_timer(1.0, lambda: ticks.append(node.get_clock().now().nanoseconds))
    executor.spin_once(timeout_sec=0.05)
    assert not ticks
    clock.publish({"clock": {"sec": 102}})
    spin_until(executor, lambda: ticks)
    assert ticks[0] == 102_000_000_000
