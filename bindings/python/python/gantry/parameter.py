"""Parameters."""

import dataclasses
import enum


class ParameterType(enum.IntEnum):
    """The type of a parameter's value, with the numbers of rcl_interfaces/msg/ParameterType."""

    NOT_SET = 0
    BOOL = 1
    INTEGER = 2
    DOUBLE = 3
    STRING = 4
    BYTE_ARRAY = 5
    BOOL_ARRAY = 6
    INTEGER_ARRAY = 7
    DOUBLE_ARRAY = 8
    STRING_ARRAY = 9


_TYPES = {bool: ParameterType.BOOL, int: ParameterType.INTEGER, float: ParameterType.DOUBLE, str: ParameterType.STRING}
_ARRAYS = {
    bool: ParameterType.BOOL_ARRAY,
    int: ParameterType.INTEGER_ARRAY,
    float: ParameterType.DOUBLE_ARRAY,
    str: ParameterType.STRING_ARRAY,
}


class Parameter:
    """A parameter: its name and its value. The value is a bool, int, float, str, bytes, a list of one of these, or
    None."""

    Type = ParameterType

    def __init__(self, name, value=None, *, type_=None):
        self.name, self.value = name, value
        if type_ is not None and type_ != self.type_:
            raise ValueError(f"the value {value!r} of parameter {name} is not a {ParameterType(type_).name}")

    @property
    def type_(self):
        """The type of the value."""
        if self.value is None:
            return ParameterType.NOT_SET
        if isinstance(self.value, bytes):
            return ParameterType.BYTE_ARRAY
        if isinstance(self.value, (list, tuple)):
            kinds = {type(item) for item in self.value}
            kind = float if kinds == {int, float} else next(iter(kinds), str)
            return _ARRAYS[kind]
        return _TYPES[type(self.value)]

    def __eq__(self, other):
        if not isinstance(other, Parameter):
            return NotImplemented
        return (self.name, self.value) == (other.name, other.value)

    __hash__ = None

    def __repr__(self):
        return f"Parameter({self.name!r}, {self.value!r})"


@dataclasses.dataclass
class SetParametersResult:
    """Whether parameters were set, and if not, the reason."""

    successful: bool = False
    reason: str = ""
