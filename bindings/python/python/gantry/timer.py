"""Timers, guard conditions and clocks."""

from ._entity import Entity
from .messages import get


class Duration:
    """A length of time."""

    __slots__ = ("nanoseconds",)

    def __init__(self, *, seconds=0, nanoseconds=0):
        self.nanoseconds = int(seconds * 1_000_000_000) + int(nanoseconds)

    def to_msg(self):
        """The message builtin_interfaces/msg/Duration."""
        seconds, rest = divmod(self.nanoseconds, 1_000_000_000)
        return get("builtin_interfaces/msg/Duration")(sec=seconds, nanosec=rest)

    def __eq__(self, other):
        return self.nanoseconds == other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __repr__(self):
        return f"Duration(nanoseconds={self.nanoseconds})"


class Time:
    """A time of a node's clock: nanoseconds since 1970 or, with simulated time, nanoseconds of that time."""

    __slots__ = ("nanoseconds",)

    def __init__(self, *, seconds=0, nanoseconds=0):
        self.nanoseconds = int(seconds * 1_000_000_000) + int(nanoseconds)

    @classmethod
    def from_msg(cls, message):
        """The time in a builtin_interfaces/msg/Time."""
        return cls(nanoseconds=message.sec * 1_000_000_000 + message.nanosec)

    def to_msg(self):
        """The message builtin_interfaces/msg/Time, for a header's stamp."""
        seconds, rest = divmod(self.nanoseconds, 1_000_000_000)
        return get("builtin_interfaces/msg/Time")(sec=seconds, nanosec=rest)

    def seconds_nanoseconds(self):
        """The whole seconds and the remaining nanoseconds."""
        return divmod(self.nanoseconds, 1_000_000_000)

    def __sub__(self, other):
        if isinstance(other, Time):
            return Duration(nanoseconds=self.nanoseconds - other.nanoseconds)
        return Time(nanoseconds=self.nanoseconds - other.nanoseconds)

    def __add__(self, other):
        return Time(nanoseconds=self.nanoseconds + other.nanoseconds)

    def __eq__(self, other):
        return self.nanoseconds == other.nanoseconds if isinstance(other, Time) else NotImplemented

    def __lt__(self, other):
        return self.nanoseconds < other.nanoseconds

    def __le__(self, other):
        return self.nanoseconds <= other.nanoseconds

    def __hash__(self):
        return hash(self.nanoseconds)

    def __repr__(self):
        return f"Time(nanoseconds={self.nanoseconds})"


class Clock:
    """A node's clock: the system time, or the time of the topic /clock if the parameter use_sim_time is true."""

    def __init__(self, node):
        self._node = node

    def now(self):
        """The time now."""
        return Time(nanoseconds=self._node.now())

    @property
    def ros_time_is_active(self):
        """Whether the clock shows simulated time."""
        return self._node.ros_time_is_active()


class Timer(Entity):
    """Calls its callback once in each period. Created by `Node.create_timer`. Its schedule does not drift."""

    def __init__(self, native, period, callback, node, callback_group):
        super().__init__(native, node, callback_group)
        self.callback, self.timer_period_ns = callback, int(period * 1_000_000_000)

    def cancel(self):
        """Stops the timer until a reset."""
        self._native.cancel()

    def reset(self):
        """Restarts the timer: the next tick is due one period from now."""
        self._native.reset()

    def is_canceled(self):
        """Whether the timer was cancelled."""
        return self._native.is_canceled()

    def time_until_next_call(self):
        """The time until the next tick is due, ns; `None` if the timer is cancelled."""
        return self._native.time_until_trigger()

    @property
    def overruns(self):
        """The number of periods that passed without a call."""
        return self._native.overruns()

    def _run(self):
        if self._native.take() is None:
            return False
        self.callback()
        return True


class GuardCondition(Entity):
    """Calls its callback after a thread has triggered it. Created by `Node.create_guard_condition`."""

    def __init__(self, native, callback, node, callback_group):
        super().__init__(native, node, callback_group)
        self.callback = callback

    def trigger(self):
        """Triggers the guard condition. May be called on any thread."""
        self._native.trigger()

    def _run(self):
        if not self._native.take():
            return False
        self.callback()
        return True


class EventHandler(Entity):
    """Calls callbacks for the QoS events of an endpoint, or for changes of the graph."""

    def __init__(self, native, callbacks, node, callback_group):
        super().__init__(native, node, callback_group)
        self.callbacks = callbacks

    def _run(self):
        event = self._native.take()
        if event is None:
            return False
        name, counts = event
        callback = self.callbacks.get(name)
        if callback is not None:
            callback(counts)
        return True
