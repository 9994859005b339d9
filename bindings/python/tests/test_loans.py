"""Tests of loans: they are written in shared memory, and cannot be changed after they were published."""

import numpy
import pytest

import gantry
from gantry.messages.sensor_msgs.msg import Image, PointCloud2
from gantry.messages.std_msgs.msg import Float64, Header, String


@pytest.fixture
def pair(node):
    return node.create_publisher(Image, "image"), node.create_subscription(Image, "image")


def test_a_loan_is_written_in_place_and_published_at_the_end_of_the_block(pair):
    publisher, subscription = pair
    frame = numpy.arange(48, dtype=numpy.uint8).reshape(4, 4, 3)
    with publisher.loan(header=Header(frame_id="camera"), encoding="bgr8", data=(4, 4, 3)) as msg:
        assert isinstance(msg, Image)
        msg.width = msg.height = 4
        msg.step = 12
        msg.header.stamp.sec = 3
        assert subscription.take() is None
        msg.as_array()[:] = frame
    image = subscription.take()
    numpy.testing.assert_array_equal(image.as_array(), frame)
    assert (image.header.frame_id, image.header.stamp.sec, image.width) == ("camera", 3, 4)


def test_values_and_messages_are_assigned(pair, node):
    publisher, subscription = pair
    msg = publisher.loan(data=3)
    msg.data = [1, 2, 3]
    msg.header.stamp = node.get_clock().now().to_msg()
    msg.encoding = ""  # unchanged
    with pytest.raises(AttributeError, match=r"give it to loan\(encoding=…\)"):
        msg.encoding = "mono8"
    with pytest.raises(ValueError, match="data has 3 elements in this loan, and 4 are given"):
        msg.data = [1, 2, 3, 4]
    with pytest.raises(OverflowError, match="out of the range of uint32"):
        msg.width = -1
    with pytest.raises(AttributeError, match="has no attribute 'wdith'"):
        msg.wdith = 1
    publisher.publish(msg)
    taken = subscription.take()
    assert taken.data.tolist() == [1, 2, 3] and taken.header.stamp.sec > 1_600_000_000


def test_an_exception_in_the_block_returns_the_loan(pair):
    publisher, subscription = pair
    with pytest.raises(ZeroDivisionError), publisher.loan(data=10):
        raise ZeroDivisionError
    assert subscription.take() is None
    used = publisher.memory_bytes
    for _ in range(1000):
        with pytest.raises(ZeroDivisionError), publisher.loan(data=100_000):
            raise ZeroDivisionError
    assert publisher.memory_bytes < used + 10_000_000


def _views():
    import ctypes

    return [
        lambda array: array,
        lambda array: array[3:],
        lambda array: array.reshape(2, -1)[1],
        lambda array: memoryview(array),
        lambda array: memoryview(array)[2:].cast("B"),
        lambda array: numpy.asarray(array, dtype=numpy.uint8).view(numpy.int8),
        lambda array: array.__dlpack__(),
        lambda array: numpy.from_dlpack(array),
        lambda array: (ctypes.c_uint8 * 4).from_buffer(array),
        lambda array: array.flat,
        lambda array: numpy.lib.stride_tricks.as_strided(array, (2,), (1,)),
        lambda array: [{"hidden": array}],
        lambda array: (lambda: array),
        lambda array: array.base,
    ]


@pytest.mark.parametrize("index", range(len(_views())))
def test_no_view_can_write_into_a_published_message(pair, index):
    publisher, subscription = pair
    msg = publisher.loan(data=64)
    msg.data[:] = 7
    view = _views()[index](msg.data)
    with pytest.raises(gantry.GantryError, match="an array of `data` is alive and could still write into it"):
        publisher.publish(msg)
    assert subscription.take() is None
    del view
    publisher.publish(msg)
    assert subscription.take().data.tolist() == [7] * 64


def test_a_published_loan_is_not_readable_any_more(pair):
    publisher, subscription = pair
    msg = publisher.loan(data=4)
    publisher.publish(msg)
    for use in (lambda: msg.data, lambda: msg.width, lambda: setattr(msg, "height", 3), lambda: publisher.publish(msg)):
        with pytest.raises(gantry.GantryError, match="this loan was published or returned"):
            use()
    assert subscription.take() is not None and subscription.take() is None


def test_a_view_that_outlives_a_failed_block_writes_nowhere_else(pair):
    publisher, subscription = pair
    with pytest.raises(gantry.GantryError, match="array of `data`"), publisher.loan(data=4096) as msg:
        view = msg.data
    for value in range(100):
        with publisher.loan(data=4096) as other:
            other.data[:] = value
        view[:] = 255  # its slot is its own
        taken = subscription.take()
        assert (taken.data == value).all()


def test_a_loan_of_another_publisher_is_refused(pair, node):
    publisher, _ = pair
    other = node.create_publisher(Image, "other")
    with pytest.raises(ValueError, match="this loan belongs to a publisher of /image"):
        other.publish(publisher.loan(data=3))


def test_samples_are_read_only_for_ever(pair):
    publisher, subscription = pair
    publisher.publish(Image(data=bytes(5000)))
    image = subscription.take()
    for array in (image.data, image.data[3:], image.data.reshape(50, 100)):
        assert not array.flags.writeable
        with pytest.raises(ValueError):
            array[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises((BufferError, TypeError)):
        memoryview(image.data)[0] = 1
    with pytest.raises(AttributeError, match="set width in a copy"):
        image.width = 3
    with pytest.raises(AttributeError, match="set frame_id in a copy"):
        image.header.frame_id = "x"


def test_a_field_of_a_list_is_named(node):
    publisher = node.create_publisher(PointCloud2, "cloud")
    msg = publisher.loan(fields=[{"name": "x"}], data=2000)
    assert msg.fields[0].name == "x"
    msg.fields[0].offset = 4
    assert msg.fields[0].offset == 4
    array = msg.data
    with pytest.raises(gantry.GantryError, match="array of `data`"):
        publisher.publish(msg)
    del array


def test_messages_without_lists_are_loaned_too(node):
    publisher, subscription = node.create_publisher(Float64, "number"), node.create_subscription(Float64, "number")
    with publisher.loan() as msg:
        msg.data = 2.5
        assert msg.data == 2.5
    assert subscription.take().data == 2.5
    text = node.create_publisher(String, "text")
    with text.loan(data="abc") as msg:
        assert msg.data == "abc"


def test_a_loan_that_is_dropped_is_returned(pair):
    publisher, _ = pair
    for _ in range(1000):
        publisher.loan(data=100_000)
    assert publisher.memory_bytes < 10_000_000


def test_dlpack_shares_the_memory(pair):
    publisher, subscription = pair
    with publisher.loan(data=1000) as msg:
        numpy.from_dlpack(msg.data)[:] = 9
    image = subscription.take()
    if tuple(int(part) for part in numpy.__version__.split(".")[:2]) < (2, 1):
        pytest.skip("NumPy before 2.1 exports no read-only arrays by DLPack")
    tensor = numpy.from_dlpack(image.data)
    assert numpy.shares_memory(tensor, image.data) and not tensor.flags.writeable
    assert image.data.__dlpack_device__() == (1, 0)
