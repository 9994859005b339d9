"""Methods of some standard messages that give images and point clouds as arrays of the right shape and type."""

import re

import numpy

from ._arrays import prepare

_DEPTHS = {"8U": "u1", "8S": "i1", "16U": "u2", "16S": "i2", "32S": "i4", "32F": "f4", "64F": "f8"}
_ENCODINGS = {
    "mono8": ("u1", 1),
    "mono16": ("u2", 1),
    "rgb8": ("u1", 3),
    "bgr8": ("u1", 3),
    "rgba8": ("u1", 4),
    "bgra8": ("u1", 4),
    "rgb16": ("u2", 3),
    "bgr16": ("u2", 3),
    "rgba16": ("u2", 4),
    "bgra16": ("u2", 4),
    "yuv422": ("u1", 2),
    "yuv422_yuy2": ("u1", 2),
    "uyvy": ("u1", 2),
    "yuyv": ("u1", 2),
}
# The NumPy types for the numbers in `datatype` of sensor_msgs/msg/PointField.
_POINT_FIELDS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}


def _element(encoding):
    """The number type of a pixel and its number of channels."""
    if encoding in _ENCODINGS:
        return _ENCODINGS[encoding]
    match = re.fullmatch(r"(8U|8S|16U|16S|32S|32F|64F)C([1-9][0-9]*)", encoding)
    if match:
        return _DEPTHS[match[1]], int(match[2])
    match = re.fullmatch(r"bayer_[rgb]{4}(8|16)", encoding)
    if match:
        return ("u1" if match[1] == "8" else "u2"), 1
    raise ValueError(f"the encoding {encoding!r} has no array; read msg.data")


def _bytes(message):
    """The data as an array of bytes, without copying if the message is in shared memory."""
    return prepare(message.data, "|u1", "uint8")


def image_as_array(self):
    """The pixels, without copying: an array of shape (height, width) or (height, width, channels), with the encoding's
    type."""
    code, channels = _element(self.encoding)
    dtype = numpy.dtype((">" if self.is_bigendian else "<") + code)
    height, width, step, data = self.height, self.width, self.step, _bytes(self)
    row_bytes = width * channels * dtype.itemsize
    step = step or row_bytes
    needed = (height - 1) * step + row_bytes if height and width else 0
    if step < row_bytes or needed > data.size:
        size = f"{width} × {height} {self.encoding} with a step of {step}"
        raise ValueError(f"an image of {size} does not fit in its {data.size} bytes of data")
    shape, strides = (height, width), (step, channels * dtype.itemsize)
    if channels > 1:
        shape, strides = (*shape, channels), (*strides, dtype.itemsize)
    return numpy.ndarray(shape, dtype, buffer=data if needed else b"", strides=strides if needed else None)


def image_from_array(cls, array, encoding=None, header=None):
    """Creates an image with these pixels, which are copied only when it is published. If `encoding` is None, it is
    guessed: bgr8 for three channels of bytes, as in OpenCV."""
    array = numpy.asarray(array)
    channels = array.shape[2] if array.ndim == 3 else 1
    if array.ndim not in (2, 3):
        raise ValueError(f"an image has the shape (height, width) or (height, width, channels), not {array.shape}")
    if encoding is None:
        encoding = {("u1", 1): "mono8", ("u1", 3): "bgr8", ("u1", 4): "bgra8", ("u2", 1): "mono16"}.get(
            (array.dtype.str[1:], channels)
        )
        if encoding is None:
            depth = {code: name for name, code in _DEPTHS.items()}.get(array.dtype.str[1:])
            if depth is None:
                raise ValueError(f"no encoding has pixels of {array.dtype}; give one")
            encoding = f"{depth}C{channels}"
    if _element(encoding) != (array.dtype.str[1:], channels):
        raise ValueError(f"{encoding} does not have {channels} channel(s) of {array.dtype}")
    array = numpy.ascontiguousarray(array)
    message = cls(height=array.shape[0], width=array.shape[1], encoding=encoding)
    message.is_bigendian = int(array.dtype.str[0] == ">")
    message.step = array.shape[1] * channels * array.dtype.itemsize
    message.data = array.reshape(-1).view(numpy.uint8)
    if header is not None:
        message.header = header
    return message


def compressed_as_array(self):
    """The compressed bytes, without copying, for a decoder such as cv2.imdecode."""
    return _bytes(self)


def cloud_dtype(self):
    """The NumPy type of a point: a structured type with a field for each field of the cloud."""
    order = ">" if self.is_bigendian else "<"
    names, formats, offsets = [], [], []
    for field in self.fields:
        if field.datatype not in _POINT_FIELDS:
            raise ValueError(f"the field {field.name!r} has the datatype {field.datatype}; known are 1 to 8")
        names.append(field.name)
        number = order + _POINT_FIELDS[field.datatype]
        formats.append(number if field.count <= 1 else (number, (field.count,)))
        offsets.append(field.offset)
    return numpy.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.point_step})


def cloud_as_array(self):
    """The points, without copying: a structured array of shape (width,), or (height, width) if the cloud is organised.
    It has a field for each field of the cloud: cloud.as_array()["x"]."""
    dtype = cloud_dtype(self)
    height, width, step, data = self.height, self.width, self.row_step, _bytes(self)
    row_bytes = width * dtype.itemsize
    step = step or row_bytes
    needed = (height - 1) * step + row_bytes if height and width else 0
    if step < row_bytes or needed > data.size:
        size = f"{width} × {height} points of {dtype.itemsize} bytes with a row_step of {step}"
        raise ValueError(f"a cloud of {size} does not fit in its {data.size} bytes of data")
    shape, strides = (height, width), (step, dtype.itemsize)
    if height <= 1:
        shape, strides = (width if height else 0,), (dtype.itemsize,)
    return numpy.ndarray(shape, dtype, buffer=data if needed else b"", strides=strides if needed else None)


def cloud_from_array(cls, array, header=None):
    """Creates a cloud with these points: a structured array of shape (width,) or (height, width)."""
    array = numpy.ascontiguousarray(array)
    if array.dtype.names is None:
        raise ValueError("a cloud is made from a structured array, with a field for each field of a point")
    codes = {code: number for number, code in _POINT_FIELDS.items()}
    height, width = array.shape if array.ndim == 2 else (1, array.shape[0])
    message = cls(height=height, width=width, point_step=array.dtype.itemsize, is_dense=True)
    message.row_step = width * array.dtype.itemsize
    make = cls._by_name["fields"].message_class
    for name in array.dtype.names:
        field, offset = array.dtype.fields[name][:2]
        base, shape = field.subdtype or (field, ())
        if base.str[1:] not in codes:
            raise ValueError(f"the field {name!r} has the type {base}, which no cloud has")
        count = int(numpy.prod(shape)) if shape else 1
        message.fields.append(make(name=name, offset=offset, datatype=codes[base.str[1:]], count=count))
    message.data = array.reshape(-1).view(numpy.uint8)
    if header is not None:
        message.header = header
    return message


EXTRAS = {
    "sensor_msgs/msg/Image": {"as_array": image_as_array, "from_array": classmethod(image_from_array)},
    "sensor_msgs/msg/CompressedImage": {"as_array": compressed_as_array},
    "sensor_msgs/msg/PointCloud2": {
        "as_array": cloud_as_array,
        "point_dtype": cloud_dtype,
        "from_array": classmethod(cloud_from_array),
    },
}
