"""Publishers."""

from ._message import Message


class Publisher:
    """Publishes messages of one type on one topic. Created by `Node.create_publisher`."""

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
        """The id of the publisher, 16 bytes. It is also in the `MessageInfo` of its messages."""
        return bytes(self._native.gid)

    def publish(self, msg):
        """Publishes a message and returns its sequence number.

        A loan of this publisher is published without copying. Anything else is copied once, into shared memory: a
        message, a received message, a dictionary, or an object with the fields of the type as attributes, such as a
        message of rclpy.
        """
        kind = type(msg)
        if kind is self.msg_type._loaned_class and msg._view.is_whole:
            if msg._publisher is not self:
                topic = msg._publisher.topic_name
                raise ValueError(
                    f"this loan belongs to a publisher of {topic}; publish it with that publisher, or take a loan from "
                    "this publisher"
                )
            return self._native.publish_loan(msg._view)
        if kind is self.msg_type._taken_class and msg._view.is_whole:
            return self._native.publish_view(msg._view)
        if isinstance(msg, Message) and msg._schema.name != self.msg_type._schema.name:
            asked, given = self.msg_type._schema.name, msg._schema.name
            raise TypeError(f"a {given} cannot be published on {self.topic_name}, whose type is {asked}")
        return self._native.publish(msg)

    def loan(self, **shape):
        """Creates a message in shared memory, to be written and then published: `with publisher.loan(data=n) as msg:
        …`.

        `shape` gives values of fields, like the constructor of a message. For a list of numbers, it may give only a
        length, or a tuple such as the shape of an image. Then write all elements, as in `msg.data[:] = frame`, because
        they contain old bytes. Texts and the lengths of lists cannot be changed later. The block publishes the message
        at its end, or returns the loan if it raises an exception. Without a block, call `publish(msg)`.

        Arrays of the message write into shared memory. The message cannot be published while one of them is alive; the
        error then contains the name of its field.
        """
        message = self.msg_type._on_loan(self._native.loan(shape))
        message._publisher = self
        return message

    def get_subscription_count(self):
        """The number of subscriptions that are matched now."""
        return self._native.subscription_count()

    def wait_for_subscriptions(self, count=1, timeout_sec=None):
        """Waits until at least `count` subscriptions are matched. Returns `False` after the timeout."""
        return self._native.wait_for_subscriptions(count, timeout_sec)

    def wait_for_all_acked(self, timeout_sec=None):
        """Always `True`, because a published message is available to its subscriptions at once."""
        return True

    def assert_liveliness(self):
        """Asserts that the publisher is alive (MANUAL_BY_TOPIC)."""
        self._native.assert_liveliness()

    def mismatches(self):
        """One sentence for each subscription to the topic that is not matched, with the reason."""
        return self._native.mismatches()

    @property
    def memory_bytes(self):
        """The size of the publisher's shared memory, in bytes."""
        return self._native.memory_bytes()

    def destroy(self):
        """Destroys the publisher. Samples that subscriptions hold stay valid."""
        self._forget(self)
        self._native.destroy()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.destroy()
