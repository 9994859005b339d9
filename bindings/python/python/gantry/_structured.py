"""Structured arrays for lists of messages that have only numbers."""

import numpy


def element_type(cls):
    """The NumPy type of a list element with this message class, and its alignment; `None` if not all elements of a list
    would have the same layout."""
    names, formats, offsets, alignments, end = [], [], [], [], 0
    for field in cls._fields:
        element = element_type(field.message_class) if field.nested is not None else _number_type(field)
        if element is None or (field.is_list and field.length is None):
            return None
        dtype, alignment = element
        offset = (end + alignment - 1) // alignment * alignment
        names.append(field.name)
        formats.append((dtype, (field.length,)) if field.is_list else dtype)
        offsets.append(offset)
        alignments.append(alignment)
        end = offset + dtype.itemsize * (field.length or 1)
    # CDR aligns the first field of each element. Only if no other field has a larger alignment, all elements have the
    # same layout as the first one.
    if not names or max(alignments) != alignments[0] or end % alignments[0] != 0:
        return None
    return numpy.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": end}), alignments[0]


def _number_type(field):
    if field.code is None:
        return None
    dtype = numpy.dtype(field.code)
    return dtype, dtype.itemsize


def structured(message, name):
    """`Message.structured`."""
    cls = type(message)
    field = cls._by_name.get(name)
    if field is None or field.nested is None or not field.is_list:
        lists = ", ".join(one.name for one in cls._fields if one.nested is not None and one.is_list) or "none"
        raise ValueError(f"{cls._schema.name} has no list of messages {name!r}; its lists of messages: {lists}")
    element = element_type(field.message_class)
    if element is None:
        kind = field.message_class._schema.name
        raise ValueError(
            f"a list of {kind} cannot be a structured array, because its messages have texts, lists or gaps; "
            f"read msg.{name}"
        )
    dtype, alignment = element
    if hasattr(message, "_view"):
        return message._view.elements(field.index, alignment, dtype.itemsize).view(dtype)
    return numpy.array([_values(item) for item in getattr(message, name)], dtype)


def _values(message):
    values = (getattr(message, field.name) for field in message._fields)
    return tuple(_values(value) if hasattr(value, "_fields") else value for value in values)
