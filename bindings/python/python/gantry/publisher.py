"""Publishers."""

from ._message import Message


class Publisher:
    """Publishes messages of one type on one topic; made by `Node.create_publisher`."""

    def __init__(self, native, msg_type, qos, node):
        self._native, self.msg_type, self.qos_profile = native, msg_type, qos
        self._forget = node._forget_publisher

    @property
    def topic_name(self):
        """The topic's full name."""
        return self._native.topic

    topic = topic_name

    @property
    def gid(self):
        """The id of the publisher, 16 bytes, which its messages have in their info."""
        return bytes(self._native.gid)

    def publish(self, msg):
        """Publishes a message and returns its sequence number.

        A loan of this publisher is published in place. Anything else is copied once, into shared memory: a message, a
        received message, a dictionary, or an object with the fields of the type as attributes, such as a message of
        rclpy.
        """
        kind = type(msg)
        if kind is self.msg_type._loaned_class and msg._view.is_whole:
            if msg._publisher is not self:
                topic = msg._publisher.topic_name
                raise ValueError(f"this loan is of a publisher of {topic}; publish it there, or loan from this one")
            return self._native.publish_loan(msg._view)
        if kind is self.msg_type._taken_class and msg._view.is_whole:
            return self._native.publish_view(msg._view)
        if isinstance(msg, Message) and msg._schema.name != self.msg_type._schema.name:
            asked, given = self.msg_type._schema.name, msg._schema.name
            raise TypeError(f"a {given} cannot be published on {self.topic_name}, whose type is {asked}")
        return self._native.publish(msg)

    def loan(self, **shape):
        """Memory for a message, written in place and then published: `with publisher.loan(data=n) as msg: …`.

        `shape` has values of fields, as a message's. For a list of numbers, a length, or a tuple such as the shape of an
        image, stands for elements that you write: `msg.data[:] = frame`. These hold old bytes, so write all of them.
        Texts and the lengths of lists are fixed. The block publishes at its end, or returns the memory if it raises;
        without a block, call `publish(msg)`.

        Arrays of the message write into shared memory, so the message cannot be published while one of them is alive:
        the error names its field.
        """
        message = self.msg_type._on_loan(self._native.loan(shape))
        message._publisher = self
        return message

    def get_subscription_count(self):
        """The number of subscriptions that are matched now."""
        return self._native.subscription_count()

    def wait_for_subscriptions(self, count=1, timeout_sec=None):
        """Waits until at least `count` subscriptions are matched; `False` after the timeout."""
        return self._native.wait_for_subscriptions(count, timeout_sec)

    def wait_for_all_acked(self, timeout_sec=None):
        """Always `True`: a message is with its subscriptions once it is published."""
        return True

    def assert_liveliness(self):
        """Asserts that the publisher is alive (MANUAL_BY_TOPIC)."""
        self._native.assert_liveliness()

    def mismatches(self):
        """A sentence for each subscription to the topic that is not matched."""
        return self._native.mismatches()

    @property
    def memory_bytes(self):
        """Bytes of the publisher's shared memory."""
        return self._native.memory_bytes()

    def destroy(self):
        """Ends the publisher. Samples that others hold stay."""
        self._forget(self)
        self._native.destroy()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.destroy()
