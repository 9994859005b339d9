"""The lifetime of a program: init, shutdown, and the objects that must end before the interpreter does."""

import atexit
import os
import signal
import sys
import threading
import weakref

from . import _native

_nodes = weakref.WeakSet()
_at_shutdown = weakref.WeakSet()
_functions = []
_state = {"is_initialized": False, "is_shut_down": False, "arguments": []}
_old_handlers = {}


def init(args=None, *, handle_sigterm=True):
    """Initialises the program. Nodes obey the ROS arguments in `args` (default: the command line). With
    `handle_sigterm`, SIGTERM calls `shutdown`, so that the program ends in order. Ctrl-C raises KeyboardInterrupt even
    without `init`."""
    if _state["is_initialized"] and not _state["is_shut_down"]:
        raise RuntimeError("gantry.init was called already; call gantry.shutdown first")
    _state.update(is_initialized=True, is_shut_down=False, arguments=list(sys.argv if args is None else args))
    _native.set_shut_down(False)
    in_main = threading.current_thread() is threading.main_thread()
    if handle_sigterm and in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        _old_handlers[signal.SIGTERM] = signal.signal(signal.SIGTERM, lambda *_: shutdown())


def arguments():
    """The arguments of `init`, which apply to all nodes."""
    return _state["arguments"]


def ok():
    """Whether the program continues; `False` after the begin of a shutdown."""
    return not _state["is_shut_down"]


def shutdown():
    """Calls the functions of `on_shutdown`, then ends all spins and waits of the process. Nodes stay usable."""
    if _state["is_shut_down"]:
        return
    _state["is_shut_down"] = True
    while _functions:
        _functions.pop(0)()
    _native.set_shut_down(True)
    if threading.current_thread() is threading.main_thread():
        for number, handler in _old_handlers.items():
            signal.signal(number, handler)
        _old_handlers.clear()
    for waiting in list(_at_shutdown):
        waiting.wake()


def on_shutdown(function):
    """Registers `function` to be called once at the next shutdown, while nodes still work."""
    _functions.append(function)


def register_waiting(waiting):
    """Registers an object whose `wake()` is called at a shutdown."""
    _at_shutdown.add(waiting)


def register_node(node):
    """Registers a node to be destroyed before the interpreter ends."""
    _nodes.add(node)
    from . import _log

    _log.start()


def _at_exit():
    # Runs before the interpreter ends. After it, no thread of the library calls Python.
    shutdown()
    for node in list(_nodes):
        node.destroy_node()
    from . import _log

    _log.stop()


atexit.register(_at_exit)


def _after_fork_in_child():
    _native.after_fork_in_child()
    # These objects belong to the parent, which ends them itself.
    _nodes.clear()
    _functions.clear()
    _at_shutdown.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)
