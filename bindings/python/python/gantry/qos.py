"""Quality of service. The names are the same as in rclpy."""

import dataclasses
import datetime
import enum


class HistoryPolicy(enum.IntEnum):
    """The samples that are kept."""

    SYSTEM_DEFAULT = 0
    KEEP_LAST = 1
    KEEP_ALL = 2


class ReliabilityPolicy(enum.IntEnum):
    """Whether samples may be lost."""

    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2


class DurabilityPolicy(enum.IntEnum):
    """Whether late subscriptions get earlier samples."""

    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2


class LivelinessPolicy(enum.IntEnum):
    """How a publisher asserts that it is alive: automatically or by calls."""

    SYSTEM_DEFAULT = 0
    AUTOMATIC = 1
    MANUAL_BY_TOPIC = 3


_DEFAULTS = {
    "history": HistoryPolicy.KEEP_LAST,
    "reliability": ReliabilityPolicy.RELIABLE,
    "durability": DurabilityPolicy.VOLATILE,
    "liveliness": LivelinessPolicy.AUTOMATIC,
}


def seconds(duration):
    """Converts a duration to seconds: a number, a timedelta, or an object with nanoseconds such as rclpy's Duration.
    `None` means no limit."""
    if duration is None or isinstance(duration, (int, float)):
        return duration
    if isinstance(duration, datetime.timedelta):
        return duration.total_seconds()
    if hasattr(duration, "nanoseconds"):
        return duration.nanoseconds / 1e9
    raise TypeError(f"{duration!r} is not a duration: give seconds or a datetime.timedelta")


@dataclasses.dataclass
class QoSProfile:
    """The quality of service that an endpoint offers or requests. Durations are seconds; `None` means no limit."""

    depth: int = 10
    history: HistoryPolicy = HistoryPolicy.KEEP_LAST
    reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE
    durability: DurabilityPolicy = DurabilityPolicy.VOLATILE
    deadline: float | None = None
    lifespan: float | None = None
    liveliness: LivelinessPolicy = LivelinessPolicy.AUTOMATIC
    liveliness_lease_duration: float | None = None
    avoid_ros_namespace_conventions: bool = False

    def __post_init__(self):
        for name, default in _DEFAULTS.items():
            value = type(default)(getattr(self, name))
            setattr(self, name, default if value == 0 else value)
        for name in ("deadline", "lifespan", "liveliness_lease_duration"):
            setattr(self, name, seconds(getattr(self, name)) or None)


def profile(qos):
    """Returns `qos` if it is a profile; if it is a number, the default profile with this depth."""
    if isinstance(qos, QoSProfile):
        return qos
    if isinstance(qos, int) and not isinstance(qos, bool):
        return QoSProfile(depth=qos)
    raise TypeError(f"{qos!r} is not a QoS: give a QoSProfile or a depth")


def from_fields(fields):
    """The profile with these fields. Policies are given as the names of their values."""
    kinds = {name: type(default) for name, default in _DEFAULTS.items()}
    return QoSProfile(**{name: kinds[name][value] if name in kinds else value for name, value in fields.items()})


qos_profile_default = QoSProfile()
qos_profile_system_default = QoSProfile()
qos_profile_sensor_data = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
qos_profile_services_default = QoSProfile()
qos_profile_parameters = QoSProfile(depth=1000)
