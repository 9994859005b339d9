"""The parameters of a node."""

import weakref

from . import _native
from .parameter import Parameter, SetParametersResult


class ParameterMethods:
    """The methods of a node that declare, read and set parameters."""

    def declare_parameter(self, name, value=None, descriptor=None, *, description="", read_only=False):
        """Declares a parameter and returns it. Its value comes from the command line or, if not given there, is
        `value`. Its type is fixed unless `value` is None. After the first declaration, other programs can see the
        node's parameters."""
        dynamic = value is None
        if descriptor is not None:
            description, read_only = descriptor.description, descriptor.read_only
            dynamic = dynamic or descriptor.dynamic_typing
        return Parameter(name, self._native.declare_parameter(name, value, description, read_only, dynamic))

    def declare_parameters(self, namespace, parameters):
        """Declares several parameters, given as tuples of name and value."""
        prefix = f"{namespace}." if namespace else ""
        return [self.declare_parameter(prefix + name, *rest) for name, *rest in parameters]

    def undeclare_parameter(self, name):
        """Removes a parameter whose type is dynamic."""
        self._native.undeclare_parameter(name)

    def has_parameter(self, name):
        """Whether the parameter is declared."""
        return self._native.has_parameter(name)

    def get_parameter(self, name):
        """The parameter as an object, whose attribute `value` is the value."""
        return Parameter(name, self._native.get_parameter(name))

    def get_parameters(self, names):
        """Several parameters."""
        return [self.get_parameter(name) for name in names]

    def get_parameter_or(self, name, alternative=None):
        """The parameter; `alternative` if the parameter is not declared."""
        return self.get_parameter(name) if self.has_parameter(name) else alternative

    def get_parameters_by_prefix(self, prefix):
        """The parameters whose names begin with a prefix. The keys are the names without the prefix."""
        found = self._native.get_parameters_by_prefix(prefix)
        return {name: Parameter(f"{prefix}.{name}" if prefix else name, value) for name, value in found}

    def set_parameters(self, parameters):
        """Sets parameters one after the other. Returns a result for each of them."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameters]

    def set_parameters_atomically(self, parameters):
        """Sets all of these parameters, or none of them if one is refused. Returns the result."""
        try:
            self._native.set_parameters([(parameter.name, parameter.value) for parameter in parameters])
        except _native.GantryError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def add_on_set_parameters_callback(self, callback):
        """Adds a function that may refuse changes of parameters. It gets a list of parameters and returns a
        `SetParametersResult`. The library may call it on another thread."""
        self._set_callbacks.append(callback)
        if not self._is_asked:
            self._is_asked = True
            self._native.on_set_parameters(_WeakAsk(self))

    def remove_on_set_parameters_callback(self, callback):
        """Removes a function that was added by `add_on_set_parameters_callback`."""
        self._set_callbacks.remove(callback)

    def _ask(self, values):
        parameters = [Parameter(name, value) for name, value in values]
        for callback in list(self._set_callbacks):
            result = callback(parameters)
            if not result.successful:
                return result.reason or "a callback refuses it"
        return None


class _WeakAsk:
    """A function that asks a node to accept changes of parameters, but does not keep the node alive."""

    def __init__(self, node):
        self._node = weakref.ref(node)

    def __call__(self, values):
        node = self._node()
        return None if node is None else node._ask(values)
