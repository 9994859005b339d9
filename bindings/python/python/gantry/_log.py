"""Passes the library's log to Python's `logging`: to the logger `gantry`, which has a child logger for each node."""

import logging
import os
import threading

from . import _native

_started = {"pid": None, "thread": None}
_lock = threading.Lock()


def logger_of(name):
    """The logger of the node with this full name: `gantry.ns.node` for `/ns/node`."""
    dotted = name.strip("/").replace("/", ".")
    return logging.getLogger(f"gantry.{dotted}" if dotted else "gantry")


def start():
    """Starts the thread that takes the library's log, once in each process."""
    with _lock:
        if _started["pid"] == os.getpid():
            return
        _started["pid"] = os.getpid()
        _started["thread"] = threading.Thread(target=_run, name="gantry-log", daemon=True)
        _started["thread"].start()


def stop():
    """Ends the thread after it has logged the waiting lines."""
    if _started["pid"] == os.getpid():
        _native.end_log()
        _started["thread"].join(2.0)


def _run():
    while (taken := _native.take_log()) is not None:
        lines, dropped = taken
        for level, node, text in lines:
            logger_of(node).log(level, text)
        if dropped:
            logging.getLogger("gantry").warning("%d lines of the log found no room", dropped)
