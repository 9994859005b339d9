"""The common parts of all sources of callbacks."""

import asyncio
import threading
import weakref

from . import _life


class Entity:
    """A source of callbacks: a subscription, a service, a client, a timer, a guard condition, events."""

    def __init__(self, native, node, callback_group):
        self._native = native
        self._node = weakref.ref(node)
        self.callback_group = callback_group
        self._is_destroyed = False
        self._waits = weakref.WeakSet()

    async def _readable(self):
        """Waits in asyncio until there may be something to take, a shutdown begins, or the source is destroyed."""
        wait = Readable(self._native.descriptor())
        self._waits.add(wait)
        await wait.wait()

    def _run(self):
        """Takes one value and calls the callback with it. Returns whether there was a value."""
        raise NotImplementedError

    @property
    def _has_callback(self):
        return True

    def destroy(self):
        """Destroys the source and removes it from its node."""
        if self._is_destroyed:
            return
        self._is_destroyed = True
        node = self._node()
        if node is not None:
            node._forget(self)
        self._native.destroy()
        for wait in list(self._waits):
            wait.wake()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.destroy()


class CallbackGroup:
    """A group of callbacks. Its subclass determines which of them may run at the same time."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = set()

    def _begin(self, entity):
        """Marks the entity's callback as running and returns `True`, if the callback may run now."""
        with self._lock:
            if not self._may_begin(entity):
                return False
            self._running.add(entity)
            return True

    def _end(self, entity):
        with self._lock:
            self._running.discard(entity)


class MutuallyExclusiveCallbackGroup(CallbackGroup):
    """At most one callback of the group runs at a time."""

    def _may_begin(self, _entity):
        return not self._running


class ReentrantCallbackGroup(CallbackGroup):
    """Callbacks of the group may run at the same time, but the callback of one source never runs twice at once."""

    def _may_begin(self, entity):
        return entity not in self._running


class Readable:
    """A wait in asyncio for the file descriptor of a source. Several tasks may wait for one descriptor."""

    # The waits by event loop and descriptor. They are needed because a loop has only one reader for each descriptor.
    _waits = {}

    def __init__(self, descriptor):
        self._loop = asyncio.get_running_loop()
        self._key = (self._loop, descriptor)
        self._future = self._loop.create_future()
        _life.register_waiting(self)

    def _finish(self):
        if not self._future.done():
            self._future.set_result(None)

    @classmethod
    def _finish_all(cls, key):
        for wait in cls._waits.get(key, ()):
            wait._finish()

    def wake(self):
        """Ends the wait. May be called on any thread."""
        try:
            self._loop.call_soon_threadsafe(self._finish)
        except RuntimeError:
            pass  # the loop is closed

    async def wait(self):
        """Waits until the descriptor is readable or `wake` is called."""
        waits = self._waits.setdefault(self._key, [])
        if not waits:
            self._loop.add_reader(self._key[1], self._finish_all, self._key)
        waits.append(self)
        try:
            await self._future
        finally:
            waits.remove(self)
            if not waits:
                del self._waits[self._key]
                self._loop.remove_reader(self._key[1])
