"""Conversion of lists and arrays of numbers for messages."""

import numpy


def prepare(value, code, name):
    """Returns `value` as a one-dimensional array of exactly the type `code`. `name` is ROS 2's name of the type, for
    errors."""
    dtype = numpy.dtype(code)
    if type(value) is numpy.ndarray and value.dtype == dtype and value.ndim == 1:
        return value
    if isinstance(value, str):
        raise TypeError(f"a str is not a list of {name}")
    if isinstance(value, (bytes, bytearray)) and dtype.itemsize == 1:
        return numpy.frombuffer(value, dtype=dtype)
    if hasattr(value, "dtype") or isinstance(value, memoryview) or hasattr(value, "__array_interface__"):
        array = numpy.asarray(value)
        if array.dtype != dtype:
            both_float = array.dtype.kind == "f" and dtype.kind == "f"
            if not both_float and not numpy.can_cast(array.dtype, dtype, "safe"):
                raise TypeError(
                    f"an array of {array.dtype} is not a {name}[]; convert the array with .astype(numpy.{dtype.name})"
                )
            array = array.astype(dtype)
    elif isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is not a list of {name}")
    else:
        # A list of Python numbers: NumPy refuses numbers that are out of range.
        values = value if isinstance(value, (list, tuple)) or hasattr(value, "__array__") else _items(value)
        if dtype.kind in "iub" and isinstance(values, (list, tuple)) and any(isinstance(item, float) for item in values):
            raise TypeError(f"a float is not a valid {name}")
        array = numpy.array(values, dtype=dtype)
    return array.reshape(-1)


def _items(value):
    if hasattr(value, "typecode"):  # array.array
        return numpy.asarray(value).tolist()
    return list(value)
