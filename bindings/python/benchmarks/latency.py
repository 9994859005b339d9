"""Measures latency and CPU time of a subscriber in Python, for Gantry and other middlewares: `python latency.py
[NAME...]`

One process publishes at a fixed rate, and another one sleeps until a message arrives. The latency begins before the
loan and the publish call. It ends when the subscriber has read the stamp of the message. The rest of the payload is not
read. It is written once before the run, or, in a loan, not at all. Runs of all contestants alternate. Contestants whose
packages are missing are skipped. rclpy needs its message libraries and RMWs on LD_LIBRARY_PATH.
"""

import argparse
import array
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

WARM_UP = 20  # messages
SIZES = {"64 B": 64, "64 KB": 65_536, "4 MB": 4_194_304}


class Gantry:
    """Gantry with loans of images, the same message type as for rclpy. The subscriber takes messages without a
    callback."""

    needs = "gantry"

    def __init__(self):
        import gantry

        self.node, self.kind = gantry.Node(f"bench{os.getpid()}"), self.message_class(gantry)

    def message_class(self, gantry):
        return gantry.messages.get("sensor_msgs/msg/Image")

    def publisher(self, size):
        publisher = self.node.create_publisher(self.kind, "bench", 10)
        publisher.wait_for_subscriptions(1, 30)
        return self.sender(publisher, size)

    def sender(self, publisher, size):
        def publish(stamp):
            with publisher.loan(data=size) as message:
                time = message.header.stamp
                time.sec, time.nanosec = divmod(stamp, 1_000_000_000)

        return publish

    def stamps(self, count):
        for message in self.node.create_subscription(self.kind, "bench", 10):
            yield self.stamp(message)
            count -= 1
            if count == 0:
                return

    def stamp(self, message):
        stamp = message.header.stamp
        return stamp.sec * 1_000_000_000 + stamp.nanosec


class GantryBytes(Gantry):
    """Gantry with loans of a stamp and bytes, the same content as for iceoryx2 and Zenoh."""

    def message_class(self, gantry):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(f"{folder}/bench/msg")
            with open(f"{folder}/bench/msg/Stamped.msg", "w") as file:
                file.write("uint64 stamp\nuint8[] data\n")
            return gantry.messages.load("bench/msg/Stamped", folder)

    def sender(self, publisher, size):
        def publish(stamp):
            with publisher.loan(data=size - 16) as message:
                message.stamp = stamp

        return publish

    def stamp(self, message):
        return message.stamp


class Rclpy:
    """rclpy with the RMW that the environment selects (default: rmw_fastrtps_cpp), and a callback in a spin."""

    needs = "rclpy"

    def __init__(self):
        import rclpy
        from sensor_msgs.msg import Image

        rclpy.init()
        self.rclpy, self.kind = rclpy, Image
        self.node = rclpy.create_node(f"bench{os.getpid()}")

    def publisher(self, size):
        publisher, message = self.node.create_publisher(self.kind, "bench", 10), self.kind()
        message.data = array.array("B", bytes(size))
        while publisher.get_subscription_count() == 0:
            time.sleep(0.01)
        time.sleep(0.5)

        def publish(stamp):
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
            publisher.publish(message)

        return publish

    def stamps(self, count):
        got = []
        self.node.create_subscription(
            self.kind, "bench", lambda m: got.append(m.header.stamp.sec * 1_000_000_000 + m.header.stamp.nanosec), 10
        )
        executor = self.rclpy.executors.SingleThreadedExecutor()
        executor.add_node(self.node)
        while count > 0:
            executor.spin_once()
            while got:
                yield got.pop(0)
                count -= 1


class RclpyGantry(Rclpy):
    """rclpy with rmw_gantry. A ROS 2 with one built-in RMW, such as PyPI's, needs the path of the library in
    RMW_GANTRY."""

    environment = {"RMW_IMPLEMENTATION": "rmw_gantry"}
    if "RMW_GANTRY" in os.environ:
        environment["LD_PRELOAD"] = os.environ["RMW_GANTRY"]

    def __init__(self):
        super().__init__()
        found = self.rclpy.get_rmw_implementation_identifier()
        if found != "rmw_gantry":
            sys.exit(f"rclpy runs over {found}")


class Zenoh:
    """eclipse-zenoh with peers over TCP on the loopback interface, without scouting; the subscriber uses a channel."""

    needs = "zenoh"
    has_shared_memory = "false"

    def __init__(self):
        import zenoh

        config = zenoh.Config()
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("transport/shared_memory/enabled", self.has_shared_memory)
        end = "listen" if sys.argv[2] == "subscribe" else "connect"
        config.insert_json5(f"{end}/endpoints", '["tcp/127.0.0.1:17447"]')
        self.zenoh, self.session = zenoh, zenoh.open(config)

    def publisher(self, size):
        publisher = self.session.declare_publisher("bench")
        while not publisher.matching_status.matching:
            time.sleep(0.01)
        return self.sender(publisher, size)

    def sender(self, publisher, size):
        payload = bytearray(size)

        def publish(stamp):
            payload[:8] = stamp.to_bytes(8, "little")
            publisher.put(bytes(payload))

        return publish

    def stamps(self, count):
        subscriber = self.session.declare_subscriber("bench")
        for _ in range(count):
            # The only way to read a payload in this module is to copy it.
            yield int.from_bytes(subscriber.recv().payload.to_bytes()[:8], "little")


class ZenohShared(Zenoh):
    """eclipse-zenoh with payloads in its shared memory."""

    has_shared_memory = "true"

    def sender(self, publisher, size):
        provider = self.zenoh.shm.ShmProvider.default_backend(max(16 * size, 1 << 20))
        policy = self.zenoh.shm.BlockOn(self.zenoh.shm.GarbageCollect())

        def publish(stamp):
            buffer = provider.alloc(size, policy=policy)
            buffer[:8] = stamp.to_bytes(8, "little")
            publisher.put(buffer)

        return publish


class Iceoryx2:
    """iceoryx2 with loans of slices of bytes, and an event that wakes the subscriber."""

    needs = "iceoryx2"

    def __init__(self):
        import ctypes

        import iceoryx2

        iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
        self.node = iceoryx2.NodeBuilder.new().create(iceoryx2.ServiceType.Ipc)
        name = iceoryx2.ServiceName.new("bench")
        service = self.node.service_builder(name).publish_subscribe(iceoryx2.Slice[ctypes.c_uint8])
        self.messages = service.subscriber_max_buffer_size(10).open_or_create()
        self.wakeups = self.node.service_builder(name).event().open_or_create()
        self.stamp_type = ctypes.c_uint64

    def publisher(self, size):
        publisher = self.messages.publisher_builder().initial_max_slice_len(size).create()
        notifier, stamp_type = self.wakeups.notifier_builder().create(), self.stamp_type
        while self.messages.dynamic_config.number_of_subscribers == 0:
            time.sleep(0.01)
        time.sleep(0.1)

        def publish(stamp):
            sample = publisher.loan_slice_uninit(size)
            stamp_type.from_address(sample.payload_ptr).value = stamp
            sample.assume_init().send()
            notifier.notify()

        return publish

    def stamps(self, count):
        listener = self.wakeups.listener_builder().create()
        subscriber, stamp_type = self.messages.subscriber_builder().create(), self.stamp_type
        while count > 0:
            sample = subscriber.receive()
            if sample is None:
                listener.blocking_wait()
                continue
            stamp = stamp_type.from_address(sample.payload_ptr).value
            yield stamp
            count -= 1


CONTESTANTS = {
    "gantry": Gantry,
    "gantry-bytes": GantryBytes,
    "iceoryx2": Iceoryx2,
    "rclpy": Rclpy,
    "rclpy-gantry": RclpyGantry,
    "zenoh": Zenoh,
    "zenoh-shared": ZenohShared,
}


class Usage:
    """The CPU time of this process since the end of the start-up."""

    def __init__(self):
        self.before, self.began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()

    def share(self):
        """The CPU time as a fraction of one core."""
        after, seconds = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - self.began
        return (after.ru_utime + after.ru_stime - self.before.ru_utime - self.before.ru_stime) / seconds


def publish(name, size, count, rate):
    """The main function of the publisher's process."""
    contestant = CONTESTANTS[name]()  # kept: it has the session
    send = contestant.publisher(size)
    due = time.monotonic()
    for index in range(count + count // 2):  # the subscriber ends after `count`
        due += 1 / rate
        time.sleep(max(0.0, due - time.monotonic()))
        send(time.monotonic_ns())
        if index == WARM_UP:
            usage = Usage()
        elif index == count - 2:
            print(json.dumps(usage.share()), flush=True)


def subscribe(name, count):
    """The main function of the subscriber's process."""
    latencies, usage = [], None
    contestant = CONTESTANTS[name]()
    for stamp in contestant.stamps(count):
        latencies.append((time.monotonic_ns() - stamp) / 1000)
        if len(latencies) == WARM_UP:
            usage = Usage()
    print(json.dumps({"latencies": latencies[WARM_UP:], "cpu": usage.share()}), flush=True)
    os._exit(0)


def measure(name, size, count, rate):
    """Executes one run. Returns the latencies in µs, and the CPU time of the subscriber and of both processes as
    fractions of one core."""
    environment = {**os.environ, **getattr(CONTESTANTS[name], "environment", {})}
    command = [sys.executable, __file__, "--role"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "env": environment}
    subscriber = subprocess.Popen([*command, "subscribe", name, str(size), str(count), str(rate)], **pipes)
    publisher = subprocess.Popen([*command, "publish", name, str(size), str(count), str(rate)], **pipes)
    try:
        output, _ = subscriber.communicate(timeout=30)
        run = json.loads(output)
        run["both"] = run["cpu"] + float(publisher.stdout.readline())
        return run
    except (subprocess.TimeoutExpired, ValueError):
        subscriber.kill()
        return None
    finally:
        publisher.kill()
        publisher.communicate()


def main():
    """Measures and prints a table."""
    if sys.argv[1:2] == ["--role"]:
        role, name, size, count, rate = sys.argv[2:]
        return publish(name, int(size), int(count), float(rate)) if role == "publish" else subscribe(name, int(count))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CONTESTANTS)} [default: all]")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each [default: 3]")
    parser.add_argument("--count", type=int, default=320, help="messages of a run, 20 of them not measured [default: 320]")
    parser.add_argument("--rate", type=float, default=100, help="Hz [default: 100]")
    options = parser.parse_args()
    names = [one for one in options.names or CONTESTANTS if importlib.util.find_spec(CONTESTANTS[one].needs)]
    found = {}
    for _ in range(options.rounds):
        for label, size in SIZES.items():
            for name in names:
                run = measure(name, size, options.count, options.rate)
                found.setdefault((name, label), []).append(run)
    print("| | size | n | p50 µs (of the runs) | p99 µs | subscriber, of a core | both |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for (name, label), runs in found.items():
        runs = [run for run in runs if run is not None]
        if not runs:
            print(f"| {name} | {label} | 0 | no run ended | | | |")
            continue
        everything = sorted(value for run in runs for value in run["latencies"])
        medians = sorted(statistics.median(run["latencies"]) for run in runs)
        middle, p99 = statistics.median(everything), everything[int(len(everything) * 0.99)]
        cpu, both = (statistics.median(run[key] for run in runs) * 100 for key in ("cpu", "both"))
        spread = f"{middle:.0f} ({medians[0]:.0f}–{medians[-1]:.0f})"
        print(f"| {name} | {label} | {len(everything)} | {spread} | {p99:.0f} | {cpu:.1f} % | {both:.1f} % |")


if __name__ == "__main__":
    main()
