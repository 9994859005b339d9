"""Message classes, which are created at run time from definitions.

A class has a slot for each field. In an ordinary message, a slot is filled when the field is set, or with the default
when it is first read. The fields of messages in shared memory are descriptors (`src/field.rs`). A received message
stores the object of a field when the field is first read. A loan stores no array, so that it can be published as soon
as the caller has dropped its arrays.
"""

import numpy

from . import _native
from ._extras import EXTRAS
from ._structured import structured


class Field:
    """A field of a message class."""

    __slots__ = ("index", "name", "type", "code", "nested", "is_list", "length", "default", "_owner", "_class")

    def __init__(self, owner, index, info):
        self.index = index
        self.name, self.type, self.code, self.nested, self.is_list, self.length, self.default = info
        self._owner, self._class = owner, None

    @property
    def message_class(self):
        """The class of the nested message."""
        if self._class is None:
            self._class = class_of(self._owner.nested(self.nested))
        return self._class

    def make_default(self):
        """A new default value."""
        if self.nested is not None:
            make = self.message_class
            return [make() for _ in range(self.length or 0)] if self.is_list else make()
        if self.is_list:
            if self.code is not None:
                dtype = numpy.dtype(self.code)
                given = self.default
                return numpy.zeros(self.length or 0, dtype) if given is None else numpy.array(given, dtype)
            return list(self.default) if self.default is not None else [""] * (self.length or 0)
        if self.default is not None:
            return self.default
        if self.code is None:
            return ""
        return {"b": False, "f": 0.0}.get(self.code[1], 0)


class Message:
    """A message. Each class of messages has the fields and constants of its definition as attributes."""

    __slots__ = ("__weakref__",)
    __hash__ = None
    _fields = ()
    _by_name = {}
    _schema = None
    _taken_class = None
    _loaned_class = None
    _in_place = None
    _on_loan = None

    def __init__(self, **fields):
        for name, value in fields.items():
            if name not in self._by_name:
                raise TypeError(_no_field(type(self), name))
            setattr(self, name, value)

    def __getattr__(self, name):
        # Python calls this for a field that has not been set yet.
        field = type(self)._by_name.get(name)
        if field is None:
            raise AttributeError(_no_field(type(self), name))
        value = field.make_default()
        object.__setattr__(self, name, value)
        return value

    @classmethod
    def get_fields_and_field_types(cls):
        """The names of the fields, and their types as in the definition."""
        return {field.name: field.type for field in cls._fields}

    @classmethod
    def from_cdr(cls, data):
        """Creates a message from a copy of these bytes: CDR with its four bytes of encapsulation, as in bags."""
        return cls._in_place(cls._schema.view_cdr(bytes(data)))

    @classmethod
    def from_yaml(cls, text):
        """Creates a message from YAML in the format of `ros2 topic pub`."""
        return cls._in_place(cls._schema.view(cls._schema.encode_yaml(text)))

    @classmethod
    def from_ros(cls, message):
        """Creates a message from a copy of `message`, an object with the same attributes such as a message of rclpy."""
        return cls._in_place(cls._schema.view(cls._schema.encode(message)))

    def to_cdr(self):
        """The message as bytes: CDR with its four bytes of encapsulation, as in bags."""
        return b"\x00\x01\x00\x00" + self._body()

    def to_yaml(self):
        """The message as YAML in the format of `ros2 topic echo --full-length`."""
        return self._schema.yaml(self._body())

    def _body(self):
        return self._schema.encode(self)

    def to_dict(self):
        """The message as a dictionary. Lists of numbers are NumPy arrays, which are copied."""
        return {field.name: _plain(getattr(self, field.name)) for field in self._fields}

    def structured(self, name):
        """The list of messages `name` as a structured array, if these messages have only numbers:
        `path.structured("points")["x"]`.

        In a received message and in a loan, the array is in shared memory; in an ordinary message, it is a copy.
        """
        return structured(self, name)

    def copy(self):
        """An independent copy of the message, which may be changed and keeps no shared memory."""
        copied = _ordinary(type(self))()
        for field in self._fields:
            object.__setattr__(copied, field.name, _copy(getattr(self, field.name)))
        return copied

    def __copy__(self):
        return Message.copy(self)

    def __deepcopy__(self, _memo):
        return Message.copy(self)

    def __reduce__(self):
        schema = self._schema
        return _unpickle, (schema.name, schema.definition, self._body())

    def __eq__(self, other):
        if not isinstance(other, Message) or other._schema.name != self._schema.name:
            return NotImplemented
        return all(_equal(getattr(self, field.name), getattr(other, field.name)) for field in self._fields)

    def __repr__(self):
        values = ", ".join(f"{field.name}={_shown(getattr(self, field.name))}" for field in self._fields)
        package, _, name = self._schema.name.split("/")
        return f"{package}.{self._schema.name.split('/')[1]}.{name}({values})"


class _InPlace:
    """The methods of a message whose fields are in shared memory."""

    __slots__ = ()

    def __getattr__(self, name):
        raise AttributeError(_no_field(type(self), name))

    def _body(self):
        # A nested message has no bytes of its own, so it is encoded.
        return self._view.body() if self._view.is_whole else self._schema.encode(self)


def _taken_setattr(self, name, _value):
    sentence = f"a message that was received cannot be changed (its memory is shared): set {name} in a copy, msg.copy()"
    raise AttributeError(sentence)


def _assign(message, field, value):
    """Sets a field of a loan that is not a single number."""
    name = field.name
    if field.nested is not None and not field.is_list:
        target = getattr(message, name)
        for inner in target._fields:
            setattr(target, inner.name, value[inner.name] if isinstance(value, dict) else getattr(value, inner.name))
    elif field.code is None:
        if getattr(message, name) != value:
            sentence = f"the length of {name} is fixed when the message is loaned: give it to loan({name}=…)"
            raise AttributeError(sentence)
    else:
        target = getattr(message, name)
        if len(target) != numpy.size(value):
            sentence = f"{name} has {len(target)} elements in this loan, and {numpy.size(value)} are given"
            raise ValueError(sentence)
        target[:] = numpy.reshape(value, -1)


class _LoanedList:
    """A list of messages in a loan. It is created once and stored in the field's slot of the ordinary class."""

    def __init__(self, field, slot):
        self._field, self._slot = _native.LoanField(field, _assign), slot

    def __get__(self, message, cls=None):
        if message is None:
            return self
        try:
            return self._slot.__get__(message)
        except AttributeError:
            value = self._field.__get__(message)
            self._slot.__set__(message, value)
            return value

    def __set__(self, message, value):
        self._field.__set__(message, value)


def _enter(self):
    return self


def _exit(self, kind, _value, _traceback):
    if kind is None:
        self._publisher._native.publish_loan(self._view)
    else:
        self._view.give_back()
    return False


_CLASSES = {}


def class_of(schema):
    """The class of a message type. Types with the same name and definition share a class."""
    key = (schema.name, schema.rihs01, schema.definition)
    cls = _CLASSES.get(key)
    if cls is None:
        cls = _CLASSES.setdefault(key, _make_class(schema))
    return cls


def _make_class(schema):
    package, kind, name = schema.name.split("/")
    fields = tuple(Field(schema, index, info) for index, info in enumerate(schema.fields()))
    shared = {"__module__": f"gantry.messages.{package}.{kind}", "__qualname__": name, "__doc__": schema.comment or None}
    namespace = dict(schema.constants())
    namespace.update(EXTRAS.get(schema.name, {}))
    namespace.update(shared)
    namespace.update(
        __slots__=tuple(field.name for field in fields),
        _fields=fields,
        _by_name={field.name: field for field in fields},
        _schema=schema,
    )
    cls = type(name, (Message,), namespace)
    methods = {key: value for key, value in vars(_InPlace).items() if key in ("__getattr__", "_body")}
    taken = {**shared, **methods, "__slots__": ("_view", "__dict__"), "__setattr__": _taken_setattr}
    taken.update((field.name, _native.SampleField(field)) for field in fields)
    cls._taken_class = type(name, (cls,), taken)
    cls._in_place = _native.Wrapper(cls._taken_class)
    loan = {**shared, **methods, "__slots__": ("_view", "_publisher"), "__enter__": _enter, "__exit__": _exit}
    for field in fields:
        is_list = field.is_list and field.nested is not None
        loan[field.name] = _LoanedList(field, vars(cls)[field.name]) if is_list else _native.LoanField(field, _assign)
    cls._loaned_class = type(name, (cls,), loan)
    cls._on_loan = _native.Wrapper(cls._loaned_class)
    cls._ordinary_class = cls
    return cls


def _ordinary(cls):
    return cls._ordinary_class


def _unpickle(name, definition, body):
    schema = _native.standard_schema(name)
    if schema is None or schema.definition != definition:
        schema = _native.load_schema(name, None, definition)
    cls = class_of(schema)
    return cls._in_place(cls._schema.view(body)).copy()


def _no_field(cls, name):
    known = ", ".join(field.name for field in cls._fields) or "no fields"
    return f"{cls._schema.name if cls._schema else cls.__name__} has no field {name!r}; it has {known}"


def _plain(value):
    if isinstance(value, Message):
        return Message.to_dict(value)
    if isinstance(value, numpy.ndarray):
        return value.copy()
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _copy(value):
    if isinstance(value, Message):
        return Message.copy(value)
    if isinstance(value, numpy.ndarray):
        return value.copy()
    return [_copy(item) for item in value] if isinstance(value, (list, tuple)) else value


def _equal(one, other):
    if isinstance(one, numpy.ndarray) or isinstance(other, numpy.ndarray):
        return numpy.array_equal(one, other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other))
    return one == other


def _shown(value):
    if isinstance(value, numpy.ndarray) and value.size > 16:
        return f"<{value.size} × {value.dtype}>"
    return repr(value)
