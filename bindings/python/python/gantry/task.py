"""The future of a response. It works with executors, threads and asyncio."""

import asyncio
import threading


class Future:
    """A result that will be available later, like rclpy's `Future`. It may be awaited in asyncio."""

    def __init__(self):
        self._condition = threading.Condition()
        self._is_done = self._is_cancelled = False
        self._result = self._exception = None
        self._callbacks = []
        self._begin_async = None

    def done(self):
        """Whether the future has a result or an exception, or was cancelled."""
        return self._is_done

    def cancelled(self):
        """Whether the future was cancelled."""
        return self._is_cancelled

    def cancel(self):
        """Cancels the future: it will get no result."""
        self._is_cancelled = True
        self._finish()

    def result(self):
        """The result. Raises the exception if there is one. Returns `None` if there is neither a result nor an
        exception yet."""
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self):
        """The exception; `None` if there is none."""
        return self._exception

    def set_result(self, result):
        """Sets the result and calls the callbacks."""
        self._result = result
        self._finish()

    def set_exception(self, exception):
        """Sets the exception and calls the callbacks."""
        self._exception = exception
        self._finish()

    def add_done_callback(self, callback):
        """Makes the future call `callback(future)` when it is done. If it is already done, calls it at once."""
        with self._condition:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback(self)

    def wait(self, timeout=None):
        """Waits until another thread completes the future. Returns whether it is done."""
        with self._condition:
            return self._condition.wait_for(lambda: self._is_done, timeout)

    def _finish(self):
        with self._condition:
            if self._is_done:
                return
            self._is_done = True
            callbacks, self._callbacks = self._callbacks, []
            self._condition.notify_all()
        for callback in callbacks:
            callback(self)

    def __await__(self):
        if not self._is_done:
            loop = asyncio.get_running_loop()
            waiting = loop.create_future()

            def finish():
                if not waiting.done():
                    waiting.set_result(None)

            self.add_done_callback(lambda _: loop.call_soon_threadsafe(finish))
            end = self._begin_async(loop) if self._begin_async else None
            try:
                yield from waiting
            finally:
                if end is not None:
                    end()
        if self._is_cancelled:
            raise asyncio.CancelledError
        return self.result()
