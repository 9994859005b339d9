"""Executors, which run the callbacks of nodes. A waiting executor does not hold Python's lock (GIL)."""

import itertools
import threading
import time
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from . import _life, _native


class Executor:
    """Runs the callbacks of nodes of one domain, one after the other, on the thread that calls `spin`."""

    def __init__(self):
        self._nodes = []
        self._waiter = None
        self._entities = {}
        self._numbers = {}
        self._counter = itertools.count(1)
        self._ready, self._queued = deque(), set()
        self._lock = threading.RLock()
        self._is_cancelled = False
        _life.register_waiting(self)

    def add_node(self, node):
        """Adds a node. Returns `False` if the executor already has it."""
        with self._lock:
            if node in self._nodes:
                return False
            if node.executor is not None:
                raise RuntimeError(
                    f"{node.get_fully_qualified_name()} is in another executor; remove the node from that executor first"
                )
            if self._waiter is None:
                self._waiter = _native.Waiter(node._native)
            self._nodes.append(node)
            node._executor = weakref.ref(self)
            for entity in list(node._entities):
                self._attach(entity)
        return True

    def remove_node(self, node):
        """Removes a node. Its callbacks do not run any more."""
        with self._lock:
            if node not in self._nodes:
                return
            self._nodes.remove(node)
            node._executor = None
            for entity in list(node._entities):
                self._detach(entity)

    def get_nodes(self):
        """The nodes."""
        return list(self._nodes)

    def wake(self):
        """Ends the current wait. May be called on any thread."""
        if self._waiter is not None:
            self._waiter.ring()

    def cancel(self):
        """Ends the current spin or, if there is none, the next one. May be called on any thread and in a callback."""
        self._is_cancelled = True
        self.wake()

    def shutdown(self, timeout_sec=None):
        """Removes all nodes."""
        self.cancel()
        for node in list(self._nodes):
            self.remove_node(node)
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()

    def spin(self):
        """Runs callbacks until `shutdown` or `cancel`. An exception in a callback ends the spin."""
        while self._goes_on():
            self._step(None)
        self._is_cancelled = False

    def spin_once(self, timeout_sec=None):
        """Waits until a callback may run, and runs one callback."""
        self._step(timeout_sec)
        self._is_cancelled = False

    def spin_until_future_complete(self, future, timeout_sec=None):
        """Runs callbacks until the future is done or the timeout has passed."""
        deadline = None if timeout_sec is None or timeout_sec < 0 else time.monotonic() + timeout_sec
        future.add_done_callback(lambda _: self.wake())
        while self._goes_on() and not future.done():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                break
            self._step(left, until=future.done)
        self._is_cancelled = False

    def _goes_on(self):
        return _life.ok() and not self._is_cancelled

    def _step(self, timeout_sec, until=lambda: False):
        """Runs one callback."""
        deadline = None if timeout_sec is None or timeout_sec < 0 else time.monotonic() + timeout_sec
        while not until():
            entity = self._next()
            if entity is not None:
                if self._run(entity):
                    return
                continue
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._goes_on() or not self._wait(left):
                return

    def _wait(self, left):
        """Waits until sources may be ready. Returns `False` if the time is over and no source is ready."""
        if self._waiter is None:
            raise RuntimeError("the executor has no node; call add_node first")
        numbers = self._waiter.wait(left)
        for number in numbers:
            self._enqueue(number)
        return bool(numbers) or left is None or left > 0

    def _enqueue(self, number):
        with self._lock:
            if number in self._entities and number not in self._queued:
                self._queued.add(number)
                self._ready.append(number)

    def _next(self):
        """The next source that may have a value."""
        with self._lock:
            while self._ready:
                number = self._ready.popleft()
                self._queued.discard(number)
                entity = self._entities.get(number)
                if entity is not None:
                    return entity
        return None

    def _run(self, entity):
        """Runs the callback of a source. Returns whether the source had a value."""
        try:
            has_run = entity._run()
        except BaseException:
            self._enqueue_entity(entity)
            raise
        if has_run:
            self._enqueue_entity(entity)
        return has_run

    def _enqueue_entity(self, entity):
        number = self._numbers.get(entity)
        if number is not None:
            self._enqueue(number)

    def _attach(self, entity):
        if not entity._has_callback:
            return
        with self._lock:
            number = next(self._counter)
            self._entities[number], self._numbers[entity] = entity, number
            self._waiter.attach(entity._native, number)
            self._enqueue(number)  # no news announces what was there before
            self.wake()

    def _detach(self, entity):
        with self._lock:
            number = self._numbers.pop(entity, None)
            if number is not None:
                del self._entities[number]
                self._waiter.detach(entity._native, number)


class SingleThreadedExecutor(Executor):
    """Runs callbacks one after the other, on the thread that calls `spin`."""


class MultiThreadedExecutor(Executor):
    """Runs callbacks on several threads, as far as their callback groups allow. The thread that calls `spin` only
    waits."""

    def __init__(self, num_threads=None):
        super().__init__()
        self._pool = ThreadPoolExecutor(num_threads, thread_name_prefix="gantry-callback")
        self._exception = None

    def _next(self):
        with self._lock:
            for _ in range(len(self._ready)):
                number = self._ready.popleft()
                self._queued.discard(number)
                entity = self._entities.get(number)
                if entity is None:
                    continue
                if entity.callback_group._begin(entity):
                    return entity
                self._enqueue(number)
        return None

    def _run(self, entity):
        self._raise()
        self._pool.submit(self._run_in_pool, entity)
        return True

    def _run_in_pool(self, entity):
        has_run = False
        try:
            has_run = entity._run()
        except BaseException as error:
            self._exception = self._exception or error
        finally:
            entity.callback_group._end(entity)
            if has_run:
                self._enqueue_entity(entity)
            self.wake()

    def _wait(self, left):
        waited = super()._wait(left)
        self._raise()
        return waited

    def _raise(self):
        if self._exception is not None:
            error, self._exception = self._exception, None
            raise error

    def shutdown(self, timeout_sec=None):
        """Removes all nodes and ends the threads, which first finish the running callbacks."""
        super().shutdown()
        self._pool.shutdown(wait=timeout_sec is None, cancel_futures=True)
        return True
