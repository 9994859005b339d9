"""Tests of message classes: fields, defaults, constants, and the same bytes as in Rust."""

import copy
import pickle
import random

import numpy
import pytest

import gantry
from gantry import _native, messages
from gantry._structured import element_type
from gantry.messages.geometry_msgs.msg import Polygon, PoseWithCovariance
from gantry.messages.sensor_msgs.msg import Image, PointCloud2, PointField
from gantry.messages.std_msgs.msg import Header, String, UInt8, UInt64
from gantry.messages.std_srvs.srv import SetBool


def test_fields_have_defaults_and_take_values():
    image = Image(width=4)
    assert (image.width, image.height, image.encoding) == (4, 0, "")
    assert image.header.stamp.sec == 0
    image.header.stamp.sec = 7
    assert image.header.stamp.sec == 7
    assert image.data.dtype == numpy.uint8 and image.data.size == 0
    assert PoseWithCovariance().covariance.shape == (36,)
    assert Image.get_fields_and_field_types()["data"] == "uint8[]"
    with pytest.raises(TypeError, match="has no field 'wdith'; it has header, height, width"):
        Image(wdith=4)
    with pytest.raises(AttributeError):
        image.wdith = 4


def test_constants_are_attributes():
    assert PointField.FLOAT32 == 7
    assert issubclass(SetBool.Request, gantry.Message)


def test_a_message_is_compared_copied_and_pickled():
    image = Image.from_array(numpy.arange(12, dtype=numpy.uint8).reshape(2, 2, 3))
    for other in (image.copy(), copy.deepcopy(image), pickle.loads(pickle.dumps(image)), Image.from_cdr(image.to_cdr())):
        assert other == image
    other = image.copy()
    other.data[0] = 99
    assert other != image and image.data[0] == 0
    assert image.to_dict()["encoding"] == "bgr8"
    assert repr(String(data="x")) == "std_msgs.msg.String(data='x')"


@pytest.mark.parametrize("value", [300, -1, 1.5, "x", None])
def test_wrong_numbers_are_refused_with_the_field(node, value):
    publisher = node.create_publisher(UInt8, "numbers")
    with pytest.raises((TypeError, OverflowError), match="`data`: "):
        publisher.publish(UInt8(data=value))


def test_wrong_values_are_refused_with_their_path(node):
    publisher = node.create_publisher(Image, "wrong")
    with pytest.raises(TypeError, match="`header.frame_id`: a value of type int is not a str"):
        publisher.publish({"header": {"frame_id": 3}})
    with pytest.raises(TypeError, match="std_msgs/msg/Header has no field `frame`; it has stamp, frame_id"):
        publisher.publish({"header": {"frame": "x"}})
    with pytest.raises(TypeError, match="`data`: an array of float64 is not a uint8"):
        publisher.publish(Image(data=numpy.zeros(3)))
    with pytest.raises(OverflowError):
        publisher.publish(Image(data=[1, 256]))
    with pytest.raises(TypeError, match="a std_msgs/msg/String cannot be published on /wrong"):
        publisher.publish(String())
    with pytest.raises(ValueError, match="`pose.covariance`|`covariance`: it has 3 elements, and the field is float64"):
        node.create_publisher(PoseWithCovariance, "pose").publish(PoseWithCovariance(covariance=[1.0, 2.0, 3.0]))


def test_objects_with_the_same_attributes_are_published(node):
    class Stamp:
        sec, nanosec = 1, 2

    class RosHeader:
        stamp, frame_id = Stamp(), "map"

    publisher, subscription = node.create_publisher(Header, "ros"), node.create_subscription(Header, "ros")
    publisher.publish(RosHeader())
    assert subscription.take().frame_id == "map"
    assert Header.from_ros(RosHeader()).stamp.nanosec == 2


def test_own_messages_are_loaded_from_a_folder_a_file_and_a_text(tmp_path, node):
    folder = tmp_path / "src" / "my_msgs"
    (folder / "msg").mkdir(parents=True)
    (folder / "srv").mkdir()
    (folder / "msg" / "Foo.msg").write_text("std_msgs/Header header\nfloat32[] ranges\nstring<=3 name\nint8 KIND=4\n")
    (folder / "srv" / "Do.srv").write_text("Foo foo\n---\nbool done\n")
    for path in (tmp_path / "src", folder, folder / "msg" / "Foo.msg"):
        foo = messages.load("my_msgs/msg/Foo", path)
        assert foo.KIND == 4
    service = messages.load("my_msgs/srv/Do", folder)
    assert service.Request().foo.header.frame_id == ""
    publisher, subscription = node.create_publisher(foo, "foo"), node.create_subscription(foo, "foo")
    publisher.publish(foo(ranges=[1.5, 2.5], name="abc"))
    numpy.testing.assert_array_equal(subscription.take().ranges, [1.5, 2.5])
    with pytest.raises(ValueError, match="`name`: the text has 4 bytes, and at most 3 are allowed"):
        publisher.publish(foo(name="abcd"))
    learned = node.learn_message_types("foo")
    assert [cls.__name__ for cls in learned] == ["Foo"]
    text = messages.load("my_msgs/msg/Bar", definition="float64 x\nwstring w")
    assert text.from_cdr(text(x=0.5, w="ü").to_cdr()).w == "ü"
    with pytest.raises(FileNotFoundError, match="no file my_msgs/msg/Baz.msg"):
        messages.load("my_msgs/msg/Baz", folder)


def test_an_unknown_message_is_refused_with_a_hint():
    with pytest.raises(LookupError, match="did you mean sensor_msgs/msg/Image"):
        messages.get("sensor_msgs/msg/Imag")
    with pytest.raises(ImportError):
        from gantry.messages.sensor_msgs.msg import Nothing  # noqa: F401


def _random_value(field, generator, depth):
    def one():
        if field.nested is not None:
            return _random(field.message_class, generator, depth + 1)
        if field.code is None:
            return "".join(generator.choice("aäß€𝄞 :'") for _ in range(generator.randrange(4)))
        kind, size = field.code[1], int(field.code[2])
        if field.type.startswith("byte"):
            return generator.randrange(65, 90)  # YAML has a byte as a character
        if kind == "b":
            return generator.random() < 0.5
        if kind == "f":
            return float(numpy.dtype(field.code).type(generator.uniform(-1e6, 1e6)))
        least = 0 if kind == "u" else -(1 << (8 * size - 1))
        return generator.randrange(least, least + (1 << 8 * size))

    if not field.is_list:
        return one()
    bound = int(field.type.rsplit("<=", 1)[1][:-1]) if field.type.endswith("]") and "[<=" in field.type else 5
    count = field.length if field.length is not None else generator.randrange(min(bound, 5 if depth < 3 else 1) + 1)
    if count > 5000:  # the benchmark messages of megabytes
        return numpy.zeros(count, field.code) if field.code else [one() for _ in range(count)]
    return [one() for _ in range(count)]


def _random(cls, generator, depth=0):
    message = cls()
    for field in cls._fields:
        if "string<=" in field.type:
            continue
        setattr(message, field.name, _random_value(field, generator, depth))
    return message


def _classes():
    for name in messages.names():
        found = messages.get(name)
        yield from [(name, found)] if "/msg/" in name else [(f"{name}_Request", found.Request), (f"{name}_Response", found.Response)]


def test_every_standard_message_has_the_bytes_of_the_rust_library():
    generator = random.Random(7)
    count = 0
    for name, cls in _classes():
        message = _random(cls, generator)
        body = message._body()
        assert len(body) < 1 << 26, name
        if len(body) > 100_000:
            continue
        text = cls._schema.yaml(body)  # the Rust library reads all values,
        assert cls._schema.encode_yaml(text) == body, name  # and writes them to the same bytes
        in_place = cls.from_cdr(message.to_cdr())
        assert in_place == message, name
        assert in_place.copy()._body() == body, name
        count += 1
    assert count > 300


def test_every_standard_message_arrives(node):
    generator = random.Random(11)
    for name, cls in _classes():
        if "Array" in name and "performance_test" in name:
            continue
        message = _random(cls, generator)
        topic = "/all/" + name.replace("/", "_").lower()
        publisher, subscription = node.create_publisher(cls, topic, 1), node.create_subscription(cls, topic, 1)
        publisher.publish(message)
        received = subscription.take()
        assert received == message, name
        assert received._view.body() == message._body(), name
        publisher.destroy()
        subscription.destroy()


def test_lists_of_plain_messages_are_structured_arrays(node):
    """Each list of messages that have only numbers, in all standard types, has the right values as a structured array:
    in shared memory and as a copy."""
    generator, count = random.Random(13), 0
    for name, cls in _classes():
        message = _random(cls, generator)
        received = cls.from_cdr(message.to_cdr())
        for field in (one for one in cls._fields if one.nested is not None and one.is_list):
            if element_type(field.message_class) is None:
                with pytest.raises(ValueError, match="cannot be a structured array"):
                    received.structured(field.name)
                continue
            array = received.structured(field.name)
            assert not array.flags.writeable and array.shape == (len(received._view.get(field.index)),), name
            assert [_as_tuple(one) for one in getattr(received, field.name)] == [_plain(one) for one in array], name
            assert numpy.array_equal(message.structured(field.name), array, equal_nan=False), name
            count += len(array)
    assert count > 20
    with pytest.raises(ValueError, match="has no list of messages 'header'; its lists of messages: none"):
        Image().structured("header")
    publisher, subscription = node.create_publisher(Polygon, "polygon"), node.create_subscription(Polygon, "polygon")
    with publisher.loan(points=1000) as polygon:
        polygon.structured("points")["y"] = range(1000)
    array = subscription.take().structured("points")
    assert array["y"].tolist() == list(range(1000)) and not array["x"].any()


def _as_tuple(message):
    values = (getattr(message, field.name) for field in message._fields)
    return tuple(_as_tuple(one) if hasattr(one, "_fields") else one.tolist() if hasattr(one, "tolist") else one for one in values)


def _plain(value):
    if isinstance(value, numpy.void):
        return tuple(_plain(value[name]) for name in value.dtype.names)
    return value.tolist()


def test_damaged_bytes_are_an_error():
    with pytest.raises(gantry.GantryError, match="the bytes are not a valid std_msgs/msg/String"):
        String.from_cdr(b"\x00\x01\x00\x00\xff\xff\xff\xff")
    big_endian = b"\x00\x00\x00\x00" + (5).to_bytes(8, "big")
    assert UInt64.from_cdr(big_endian).data == 5


def test_the_hash_is_that_of_ros():
    assert _native.standard_schema("std_msgs/msg/String").rihs01.startswith("RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db12")


def test_images_have_their_shape_and_type():
    for encoding, shape, dtype in [
        ("mono8", (3, 5), "u1"),
        ("bgr8", (3, 5, 3), "u1"),
        ("rgba8", (3, 5, 4), "u1"),
        ("16UC1", (3, 5), "u2"),
        ("32FC1", (3, 5), "f4"),
        ("32FC2", (3, 5, 2), "f4"),
        ("64FC3", (3, 5, 3), "f8"),
        ("bayer_rggb8", (3, 5), "u1"),
    ]:
        pixels = numpy.arange(numpy.prod(shape)).reshape(shape).astype(dtype)
        image = Image.from_cdr(Image.from_array(pixels, encoding).to_cdr())
        array = image.as_array()
        assert array.shape == shape and array.dtype == numpy.dtype(dtype), encoding
        numpy.testing.assert_array_equal(array, pixels)
        assert numpy.shares_memory(array, image.data)
    padded = Image(height=2, width=3, encoding="mono8", step=4, data=[1, 2, 3, 0, 4, 5, 6])
    assert padded.as_array().tolist() == [[1, 2, 3], [4, 5, 6]]
    big = Image(height=1, width=2, encoding="16UC1", is_bigendian=1, data=[1, 0, 0, 1])
    assert big.as_array().tolist() == [[256, 1]]
    assert Image(encoding="mono8").as_array().shape == (0, 0)
    with pytest.raises(ValueError, match="does not fit in its 3 bytes of data"):
        Image(height=2, width=2, encoding="mono8", data=[1, 2, 3]).as_array()
    with pytest.raises(ValueError, match="has no array"):
        Image(encoding="jpeg").as_array()


def test_clouds_are_structured_arrays():
    dtype = numpy.dtype({"names": ["x", "y", "z", "i"], "formats": ["f4", "f4", "f4", "u2"], "itemsize": 20})
    points = numpy.zeros(6, dtype)
    points["x"], points["i"] = numpy.arange(6), 9
    cloud = PointCloud2.from_cdr(PointCloud2.from_array(points).to_cdr())
    array = cloud.as_array()
    assert array.dtype.itemsize == 20 and array.shape == (6,)
    numpy.testing.assert_array_equal(array["x"], numpy.arange(6))
    assert numpy.shares_memory(array, cloud.data) and not array.flags.writeable
    organised = PointCloud2.from_cdr(PointCloud2.from_array(points.reshape(2, 3)).to_cdr())
    assert organised.as_array().shape == (2, 3)
