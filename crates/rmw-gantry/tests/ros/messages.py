"""Message types by name, and messages in which no field has its default value."""

import importlib
import inspect

from test_msgs.message_fixtures import get_test_msg

PACKAGES = ["builtin_interfaces", "geometry_msgs", "rcl_interfaces", "sensor_msgs", "std_msgs", "test_msgs"]
TEST_MSGS = [
    "Arrays", "BasicTypes", "BoundedPlainSequences", "BoundedSequences", "Builtins", "Constants", "Defaults", "Empty",
    "MultiNested", "Nested", "Strings", "UnboundedSequences", "WStrings",
]


def message_class(package, name):
    return getattr(importlib.import_module(f"{package}.msg"), name)


def classes():
    """Yields all message types of the installed packages, as pairs of package and name."""
    for package in PACKAGES:
        module = importlib.import_module(f"{package}.msg")
        yield from ((package, name) for name, _ in inspect.getmembers(module, inspect.isclass))


def fixtures(name):
    """The messages of test_msgs."""
    return get_test_msg(name)


def filled(kind, seed=1):
    """Makes a message with a value in every field."""
    message = kind()
    fields = kind.get_fields_and_field_types()
    for number, (field, slot) in enumerate(zip(fields, kind.SLOT_TYPES)):
        setattr(message, field, value(slot, seed + number))
    return message


def value(slot, seed):
    kind = type(slot).__name__
    if kind == "BasicType":
        return basic(slot.typename, seed)
    if kind in ("UnboundedString", "BoundedString"):
        return "Grüße\n"[: getattr(slot, "maximum_size", 6)] if seed % 2 else ""
    if kind in ("UnboundedWString", "BoundedWString"):
        return "Größe \u2603"[: getattr(slot, "maximum_size", 7)]
    if kind == "NamespacedType":
        return filled(getattr(importlib.import_module(".".join(slot.namespaces)), slot.name), seed + 1)
    if kind == "Array":
        length = slot.size
    else:
        length = min(seed % 4 + 1, getattr(slot, "maximum_size", 5))
    return [value(slot.value_type, seed + number) for number in range(length)]


def basic(name, seed):
    if name == "boolean":
        return seed % 2 == 1
    if name == "octet":
        return bytes([seed % 256])
    if name in ("float", "double", "long double"):
        return seed + 0.25
    return seed % 127 + 1
