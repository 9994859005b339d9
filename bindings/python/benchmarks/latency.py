"""Latency and CPU time of a subscriber in Python, beside other middlewares: `python latency.py [NAME...]`

One process publishes at a fixed rate, another one sleeps until a message comes. The latency is from before the publish
call to the moment at which the subscriber has read the message's stamp; the rest of the payload is written once, before
the run, and not read. Runs of all contestants alternate. Contestants whose packages are missing are skipped.
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
import time

SIZES = {"64 B": 64, "64 KB": 65_536, "4 MB": 4_194_304}


class Gantry:
    """Loans; a subscription that is taken from."""

    needs = "gantry"

    def __init__(self):
        import gantry
        from gantry.messages.sensor_msgs.msg import Image

        self.node, self.kind = gantry.Node(f"bench{os.getpid()}"), Image

    def publisher(self, size):
        publisher = self.node.create_publisher(self.kind, "bench", 10)
        publisher.wait_for_subscriptions(1, 30)

        def publish(stamp):
            with publisher.loan(data=size) as message:
                message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)

        return publish

    def stamps(self, count):
        for message in self.node.create_subscription(self.kind, "bench", 10):
            stamp = message.header.stamp
            yield stamp.sec * 1_000_000_000 + stamp.nanosec
            count -= 1
            if count == 0:
                return


class Rclpy:
    """rclpy over the RMW of the environment; a callback in a spin."""

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
    """rclpy over rmw_gantry."""

    environment = {"RMW_IMPLEMENTATION": "rmw_gantry"}


class Zenoh:
    """eclipse-zenoh: peers over TCP of the loopback, without scouting; a subscriber with a channel."""

    needs = "zenoh"

    def __init__(self):
        import zenoh

        config = zenoh.Config()
        config.insert_json5("scouting/multicast/enabled", "false")
        end = "listen" if sys.argv[2] == "subscribe" else "connect"
        config.insert_json5(f"{end}/endpoints", '["tcp/127.0.0.1:17447"]')
        self.session = zenoh.open(config)

    def publisher(self, size):
        publisher, payload = self.session.declare_publisher("bench"), bytearray(size)
        while not publisher.matching_status.matching:
            time.sleep(0.01)

        def publish(stamp):
            payload[:8] = stamp.to_bytes(8, "little")
            publisher.put(bytes(payload))

        return publish

    def stamps(self, count):
        subscriber = self.session.declare_subscriber("bench")
        for _ in range(count):
            yield int.from_bytes(subscriber.recv().payload.to_bytes()[:8], "little")


CONTESTANTS = {"gantry": Gantry, "rclpy": Rclpy, "rclpy-gantry": RclpyGantry, "zenoh": Zenoh}


def publish(name, size, count, rate):
    """The role of the publisher."""
    contestant = CONTESTANTS[name]()  # kept: it has the session
    send = contestant.publisher(size)
    due = time.monotonic()
    for _ in range(count + count // 2):  # the subscriber ends after `count`
        due += 1 / rate
        time.sleep(max(0.0, due - time.monotonic()))
        send(time.monotonic_ns())


def subscribe(name, count):
    """The role of the subscriber."""
    latencies, before, began = [], None, None
    contestant = CONTESTANTS[name]()
    for stamp in contestant.stamps(count):
        latencies.append((time.monotonic_ns() - stamp) / 1000)
        if len(latencies) == 20:  # after the start
            before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    after, seconds = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - began
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"latencies": latencies[20:], "cpu": used / seconds}), flush=True)
    os._exit(0)


def measure(name, size, count, rate):
    """One run: the latencies in µs, and the subscriber's share of a core."""
    environment = {**os.environ, **getattr(CONTESTANTS[name], "environment", {})}
    command = [sys.executable, __file__, "--role"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "env": environment}
    subscriber = subprocess.Popen([*command, "subscribe", name, str(size), str(count), str(rate)], **pipes)
    publisher = subprocess.Popen([*command, "publish", name, str(size), str(count), str(rate)], **pipes)
    try:
        output, _ = subscriber.communicate(timeout=120)
        return json.loads(output)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
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
    parser.add_argument("--count", type=int, default=320, help="messages of a run, 20 of which are not measured [default: 320]")
    parser.add_argument("--rate", type=float, default=100, help="Hz [default: 100]")
    options = parser.parse_args()
    names = [one for one in options.names or CONTESTANTS if importlib.util.find_spec(CONTESTANTS[one].needs)]
    found = {}
    for _ in range(options.rounds):
        for label, size in SIZES.items():
            for name in names:
                run = measure(name, size, options.count, options.rate)
                found.setdefault((name, label), []).append(run)
    print("| | size | n | p50 µs (of the runs) | p99 µs | CPU of a core |\n| --- | --- | ---: | ---: | ---: | ---: |")
    for (name, label), runs in found.items():
        runs = [run for run in runs if run is not None]
        if not runs:
            print(f"| {name} | {label} | 0 | no run ended | | |")
            continue
        everything = sorted(value for run in runs for value in run["latencies"])
        medians = sorted(statistics.median(run["latencies"]) for run in runs)
        middle, p99 = statistics.median(everything), everything[int(len(everything) * 0.99)]
        cpu = statistics.median(run["cpu"] for run in runs) * 100
        spread = f"{middle:.0f} ({medians[0]:.0f}–{medians[-1]:.0f})"
        print(f"| {name} | {label} | {len(everything)} | {spread} | {p99:.0f} | {cpu:.1f} % |")


if __name__ == "__main__":
    main()
