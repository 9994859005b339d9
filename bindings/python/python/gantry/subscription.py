"""Subscriptions, and the properties of received messages."""

import inspect

from . import _life
from ._entity import Entity


class MessageInfo:
    """The properties of a received message. Times are in nanoseconds."""

    __slots__ = ("sequence", "source_time_ns", "source_timestamp", "publisher_gid", "length_bytes")

    def __init__(self, info):
        self.sequence, self.source_time_ns, self.source_timestamp, gid, self.length_bytes, _ = info
        self.publisher_gid = bytes(gid)

    def __repr__(self):
        return f"MessageInfo(sequence={self.sequence}, source_timestamp={self.source_timestamp})"


def takes_info(callback):
    """Whether a callback has a second argument, which gets the message's info."""
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [one for one in parameters if one.kind in kinds and one.default is inspect.Parameter.empty]
    return len(required) >= 2


class Subscription(Entity):
    """Receives messages of one type from one topic. Created by `Node.create_subscription`.

    Without a callback, the program takes messages: `take`, `for msg in subscription`, `async for msg in subscription`.
    A message is in its publisher's memory. It stays unchanged there while the message or an array of it is alive.
    """

    def __init__(self, native, msg_type, callback, qos, node, callback_group):
        super().__init__(native, node, callback_group)
        self.msg_type, self.callback, self.qos_profile = msg_type, callback, qos
        self._takes_info = callback is not None and takes_info(callback)

    @property
    def _has_callback(self):
        return self.callback is not None

    @property
    def topic_name(self):
        """The topic's full name."""
        return self._native.topic

    topic = topic_name

    @property
    def gid(self):
        """The id of the subscription, 16 bytes."""
        return bytes(self._native.gid)

    def take(self):
        """The next message, in shared memory; `None` if there is no message now."""
        view = self._native.take()
        return None if view is None else self.msg_type._in_place(view)

    def take_with_info(self):
        """The next message and its `MessageInfo`; `None` if there is no message now."""
        view = self._native.take()
        return None if view is None else (self.msg_type._in_place(view), MessageInfo(view.info()))

    def wait(self, timeout_sec=None):
        """Waits until there is a message to take. Returns `False` after the timeout or a shutdown. Other Python threads
        run meanwhile."""
        return self._native.wait(timeout_sec)

    def __iter__(self):
        take, in_place, wait = self._native.take, self.msg_type._in_place, self._native.wait
        while _life.ok():
            view = take()
            if view is not None:
                yield in_place(view)
            else:
                wait()

    async def __aiter__(self):
        while _life.ok():
            message = self.take()
            if message is not None:
                yield message
            else:
                await self._readable()

    async def take_async(self):
        """Waits for the next message and returns it; `None` after a shutdown."""
        async for message in self:
            return message
        return None

    def fileno(self):
        """A file descriptor that is readable while there is a message to take. After it became readable, take all
        messages before you wait for it again."""
        return self._native.descriptor()

    def wait_for_publishers(self, count=1, timeout_sec=None):
        """Waits until at least `count` publishers are matched. Returns `False` after the timeout."""
        return self._native.wait_for_publishers(count, timeout_sec)

    def get_publisher_count(self):
        """The number of publishers that are matched now."""
        return self._native.publisher_count()

    def set_max_held_samples(self, limit):
        """Sets the largest number of messages of one publisher that may be alive at once in this subscription."""
        self._native.set_max_held_samples(limit)

    @property
    def counts(self):
        """The numbers of messages that were lost (overwritten or malformed), overwritten, expired, malformed and
        received."""
        return dict(zip(("lost", "overwritten", "expired", "malformed", "received"), self._native.counts()))

    def mismatches(self):
        """One sentence for each publisher of the topic that is not matched, with the reason."""
        return self._native.mismatches()

    def _run(self):
        view = self._native.take()
        if view is None:
            return False
        message = self.msg_type._in_place(view)
        if self._takes_info:
            self.callback(message, MessageInfo(view.info()))
        else:
            self.callback(message)
        return True
