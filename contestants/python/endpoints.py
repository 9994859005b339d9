"""Publishers and subscriptions of the package gantry, written as in a user's program. perf_test_python calls these
functions for each message."""

import logging
import os
import time

import numpy

import gantry

_PAYLOADS = ("array", "bounded_sequence", "unbounded_sequence", "data")


def initialize():
    """Initialises the module. perf_test_python calls this function once."""
    if "GANTRY_LOG" not in os.environ:
        logging.getLogger("gantry").setLevel(logging.ERROR)  # perf_test reports mismatches itself


def clean_up(domain_id):
    """Removes the files of dead processes: each process that joins a domain does so."""
    gantry.Node("perf_test_coordinator", domain_id=domain_id).destroy_node()


class _Endpoint:
    def __init__(self, plan):
        self.topic, self.zero_copy = plan["topic"], plan["zero_copy"]
        self.node = gantry.Node(f"perf_test_{plan['kind']}_{plan['index']}", domain_id=plan["domain_id"])
        name, older = plan["type_name"], plan["older_messages"]
        self.type = gantry.messages.load(name, older) if older else gantry.messages.get(name)
        fields = self.type.get_fields_and_field_types()
        # The field with the payload. Messages of single fields have none, and a string does not count because it is no
        # array.
        self.payload_field = next((field for field in _PAYLOADS if field in fields), None)
        self.is_stamped_by_header = "time" not in fields  # iRobot's messages
        self.qos = gantry.QoSProfile(
            reliability=gantry.ReliabilityPolicy[plan["reliability"]],
            durability=gantry.DurabilityPolicy[plan["durability"]],
            history=gantry.HistoryPolicy[plan["history"]],
            depth=plan["depth"],
        )

    def destroy(self):
        """Ends the endpoint."""
        self.node.destroy_node()


class Publisher(_Endpoint):
    """A publisher of loans, or of one message object that is published again and again."""

    def __init__(self, plan):
        super().__init__(plan)
        shape = self._shape(plan["unbounded_bytes"])
        self.shape = shape if self.zero_copy else None
        self.message = None if self.zero_copy else self.type(**shape)
        if not self.zero_copy and self.payload_field is not None:
            array = getattr(self.message, self.payload_field)
            array[:] = 1  # each page is written once
        self.publisher = self.node.create_publisher(self.type, self.topic, self.qos)
        self.gid, self.matched = self.publisher.gid, self.publisher.get_subscription_count
        self.mismatches = self.publisher.mismatches
        self.send = self._send_with_header if self.is_stamped_by_header else self._send

    def _shape(self, unbounded_bytes):
        """Returns the fields of variable length, with their lengths for a loan or their values for a message."""
        fields = self.type.get_fields_and_field_types()
        if "unbounded_string" in fields:
            return {"unbounded_string": "Z" * unbounded_bytes}
        kind = fields.get(self.payload_field, "")
        if "[<=" in kind:
            unbounded_bytes = int(kind[kind.index("[<=") + 3 : -1])
        elif not kind.endswith("[]"):
            return {}
        return {self.payload_field: unbounded_bytes if self.zero_copy else numpy.ones(unbounded_bytes, numpy.uint8)}

    def payload(self):
        """Returns the payload array of the next message, which the caller fills; `None` if the message has no array."""
        if self.shape is not None:
            self.message = self.publisher.loan(**self.shape)
        return None if self.payload_field is None else getattr(self.message, self.payload_field)

    def _send(self, time_ns, number, _rate_hz):
        message = self.message
        message.time = time_ns
        message.id = number
        self.publisher.publish(message)

    def _send_with_header(self, time_ns, number, rate_hz):
        message = self.message
        sec, nanosec = divmod(time_ns, 1_000_000_000)
        stamp = {"sec": sec, "nanosec": nanosec}
        size = getattr(message, self.payload_field).nbytes
        message.header = {"stamp": stamp, "tracking_number": number, "frequency": rate_hz, "size": size}
        self.publisher.publish(message)


class Subscription(_Endpoint):
    """A subscription by `take`. Messages are read in place with zero copy, otherwise copied."""

    def __init__(self, plan):
        super().__init__(plan)
        self.subscription = self.node.create_subscription(self.type, self.topic, qos_profile=self.qos)
        self.wait, self.matched = self.subscription.wait, self.subscription.get_publisher_count
        self.mismatches = self.subscription.mismatches
        self.next, self.known_overwritten = {}, 0

    def take(self):
        """Returns the next message as (payload, time, id, time of reception, gid, overwritten, length); `None` if there
        is none."""
        taken = self.subscription.take_with_info()
        if taken is None:
            return None
        message, info = taken
        if not self.zero_copy:
            message = message.copy()
        if self.is_stamped_by_header:
            header = message.header
            time_ns, number = header.stamp.sec * 1_000_000_000 + header.stamp.nanosec, header.tracking_number
        else:
            time_ns, number = message.time, message.id
        received_ns = time.monotonic_ns()
        gid, sequence = info.publisher_gid, info.sequence
        if self.next.get(gid) != sequence:
            self.overwritten()
        self.next[gid] = sequence + 1
        payload = None if self.payload_field is None else getattr(message, self.payload_field)
        return payload, time_ns, number, received_ns, gid, self.known_overwritten, info.length_bytes

    def overwritten(self):
        """The number of messages that left the history before they were taken."""
        self.known_overwritten = self.subscription.counts["overwritten"]
        return self.known_overwritten
