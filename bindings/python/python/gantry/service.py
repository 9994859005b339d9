"""Services and their clients."""

import inspect
import time

from . import _life
from ._entity import Entity
from ._native import GantryError
from .task import Future


class Service(Entity):
    """Answers requests. Created by `Node.create_service`.

    The callback is the same as in rclpy: `callback(request, response)` fills the response and returns it. Without a
    callback, the program takes requests: `take_request`, `async for request, respond in service`.
    """

    def __init__(self, native, srv_type, callback, qos, node, callback_group):
        super().__init__(native, node, callback_group)
        self.srv_type, self.callback, self.qos_profile = srv_type, callback, qos

    @property
    def _has_callback(self):
        return self.callback is not None

    @property
    def service_name(self):
        """The service's full name."""
        return self._native.name

    srv_name = service_name

    def take_request(self):
        """The next request in shared memory, and a function that answers it; `None` if there is no request now."""
        taken = self._native.take()
        if taken is None:
            return None
        view, request_id = taken
        return self.srv_type.Request._in_place(view), lambda response: self._native.respond(request_id, response)

    def wait(self, timeout_sec=None):
        """Waits for a request. Returns `False` after the timeout or a shutdown."""
        return self._native.wait(timeout_sec)

    async def __aiter__(self):
        while _life.ok():
            taken = self.take_request()
            if taken is not None:
                yield taken
            else:
                await self._readable()

    def get_client_count(self):
        """The number of clients that are matched now."""
        return self._native.client_count()

    def _run(self):
        taken = self.take_request()
        if taken is None:
            return False
        request, respond = taken
        response = self.callback(request, self.srv_type.Response())
        if inspect.isawaitable(response):
            response.close()
            raise TypeError(f"the callback of {self.service_name} is a coroutine: use `async for request, respond in service`")
        if response is None:
            raise TypeError(f"the callback of {self.service_name} returned None; it must return the response")
        respond(response)
        return True


class Client(Entity):
    """Calls a service. Created by `Node.create_client`."""

    def __init__(self, native, srv_type, qos, node, callback_group):
        super().__init__(native, node, callback_group)
        self.srv_type, self.qos_profile = srv_type, qos
        self._futures = {}

    @property
    def service_name(self):
        """The service's full name."""
        return self._native.name

    srv_name = service_name

    def service_is_ready(self):
        """Whether a server is matched."""
        return self._native.service_is_ready()

    def wait_for_service(self, timeout_sec=None):
        """Waits until a server is matched. Returns `False` after the timeout or a shutdown."""
        return self._native.wait_for_service(timeout_sec)

    def call_async(self, request):
        """Sends a request and returns the future of the response. Spin until the future is done, or await it in
        asyncio."""
        future = Future()
        future._begin_async = self._begin_async
        # An executor on another thread may take the response before the future is stored; `_early` then has the
        # response.
        sequence = self._native.send(request)
        self._futures[sequence] = future
        early = self._early.pop(sequence, None) if self._early else None
        if early is not None:
            self._resolve(sequence, *early)
        return future

    _early = None

    def call(self, request, timeout_sec=None):
        """Sends a request and waits for the response. Other Python threads run meanwhile."""
        future = self.call_async(request)
        deadline = None if timeout_sec is None else time.monotonic() + timeout_sec
        while not future.done():
            left = 0.1 if deadline is None else min(0.1, deadline - time.monotonic())
            if left <= 0 or not _life.ok():
                self.remove_pending_request(future)
                shut_down = "was cancelled, because the program shuts down"
                why = f"was not answered within {timeout_sec} s" if _life.ok() else shut_down
                raise TimeoutError(f"a request to {self.service_name} {why}")
            if self._native.wait(left):
                self._run()
        return future.result()

    def remove_pending_request(self, future):
        """Removes a pending request. Its response will be dropped."""
        for sequence, pending in list(self._futures.items()):
            if pending is future:
                del self._futures[sequence]
                self._native.forget(sequence)

    def _run(self):
        taken = self._native.take()
        if taken is None:
            return False
        sequence, view, why = taken
        if sequence in self._futures:
            self._resolve(sequence, view, why)
        else:
            self._early = self._early or {}
            self._early[sequence] = (view, why)
            if sequence in self._futures:  # stored meanwhile
                self._resolve(sequence, *self._early.pop(sequence))
        return True

    def _resolve(self, sequence, view, why):
        future = self._futures.pop(sequence, None)
        if future is None:
            return
        if view is None:
            future.set_exception(GantryError(why))
        else:
            future.set_result(self.srv_type.Response._in_place(view))

    def _begin_async(self, loop):
        """Makes the event loop take responses until the returned function is called."""
        descriptor = self._native.descriptor()

        def take():
            while self._run():
                pass

        def look():
            # A timer also looks, because the descriptor does not become readable when a server ends.
            nonlocal timer
            take()
            timer = loop.call_later(0.1, look)

        timer = loop.call_later(0.1, look)
        self._readers = getattr(self, "_readers", 0) + 1
        loop.add_reader(descriptor, take)
        take()

        def end():
            timer.cancel()
            self._readers -= 1
            if self._readers == 0:
                loop.remove_reader(descriptor)

        return end
