"""Message classes. Standard types are modules (`from gantry.messages.sensor_msgs.msg import Image`); other types are
loaded from their definitions (`load`)."""

import functools
import sys
import types
from pathlib import Path

from .. import _native
from .._message import Message, class_of

__all__ = ["Message", "get", "load", "names"]


class Service:
    """The type of a service: the classes of its requests and responses."""

    Request = Message
    Response = Message
    _name = ""


@functools.lru_cache(maxsize=None)
def names():
    """The names of the standard messages and services."""
    known = (name for name in _native.standard_names())
    return tuple(sorted({_interface(name) for name in known}))


def get(name):
    """The class of the standard message or service with this ROS 2 name, for example `sensor_msgs/msg/Image`."""
    name = _full(name)
    if name not in names():
        raise _unknown(name)
    return _get(name)


def load(name, path=None, *, definition=None):
    """The class of a message or service that is not a standard one.

    `path` is a folder of packages with files such as `my_msgs/msg/Foo.msg` (ROS 2's `share`, or `src` of a workspace),
    the package's own folder, or the file. `definition` is the text of a `.msg` file instead of a path. Nested messages
    follow in it below lines of `=`, as in bags. Nested standard messages are known.
    """
    name = _full(name)
    if (path is None) == (definition is None):
        raise TypeError("load takes a path or a definition")
    folder = None if path is None else _folder(name, Path(path))
    if "/srv/" in name and not name.endswith(("_Request", "_Response")):
        request, response = (_native.load_schema(f"{name}_{part}", folder, definition) for part in ("Request", "Response"))
        return _service(name, request, response)
    return class_of(_native.load_schema(name, folder, definition))


def _folder(name, path):
    """The folder that contains the folder of the package."""
    package, kind, message = name.split("/")
    stem = message.removesuffix("_Request").removesuffix("_Response")
    for folder in (path, path.parent, *path.parents[1:3]):
        if (folder / package / kind / f"{stem}.{kind}").is_file():
            return folder
    raise FileNotFoundError(f"no file {package}/{kind}/{stem}.{kind} is in {path}")


def _full(name):
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is not the name of a message, such as sensor_msgs/msg/Image")
    parts = name.split("/")
    return f"{parts[0]}/msg/{parts[1]}" if len(parts) == 2 else name


def _interface(name):
    return name.removesuffix("_Request").removesuffix("_Response") if "/srv/" in name else name


def _unknown(name):
    import difflib

    near = difflib.get_close_matches(name, names(), 1, 0.7)
    hint = f"; did you mean {near[0]}?" if near else "; load(name, path) takes others"
    return LookupError(f"{name} is not a standard message or service{hint}")


@functools.lru_cache(maxsize=None)
def _get(name):
    if "/srv/" in name:
        request, response = (_native.standard_schema(f"{name}_{part}") for part in ("Request", "Response"))
        return _service(name, request, response)
    return class_of(_native.standard_schema(name))


def _service(name, request, response):
    package, kind, simple = name.split("/")
    members = {"Request": class_of(request), "Response": class_of(response), "_name": name}
    return type(simple, (Service,), {**members, "__module__": f"gantry.messages.{package}.{kind}"})


def _module(name, members, getter):
    module = types.ModuleType(name, f"The standard messages of {name.removeprefix(__name__ + '.')}.")
    module.__getattr__, module.__dir__ = getter, lambda: sorted(members)
    module.__path__ = []
    sys.modules[name] = module
    return module


def _make_modules():
    packages = {}
    for name in names():
        package, kind, simple = name.split("/")
        packages.setdefault(package, {}).setdefault(kind, set()).add(simple)
    for package, kinds in packages.items():
        parts = {}
        for kind, members in kinds.items():

            def getter(simple, package=package, kind=kind, members=members):
                if simple in members:
                    return _get(f"{package}/{kind}/{simple}")
                raise AttributeError(f"{package} has no {kind} {simple!r}")

            parts[kind] = _module(f"{__name__}.{package}.{kind}", members, getter)
        module = _module(f"{__name__}.{package}", parts, lambda name: _no_part(name))
        vars(module).update(parts)
        globals()[package] = module


def _no_part(name):
    raise AttributeError(f"a package has the modules msg and srv, not {name!r}")


_make_modules()
