// Parameters: the methods of a node that declare, read and set them. The names are the same as in rclcpp.
#pragma once

#include <gantry/parameter_value.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace gantry {

struct IntegerRange {
    std::int64_t from_value = 0, to_value = 0;
    std::uint64_t step = 0;
};
struct FloatingPointRange {
    double from_value = 0, to_value = 0, step = 0;
};

// The properties of a declared parameter.
struct ParameterDescriptor {
    std::string description;
    bool read_only = false;
    // The parameter may change its type, and may be undeclared.
    bool dynamic_typing = false;
    std::optional<IntegerRange> integer_range;
    std::optional<FloatingPointRange> floating_point_range;
    // describe_parameter sets the name and the type of the value (GANTRY_PARAMETER_…); a declaration ignores them.
    std::string name = {};
    std::int32_t type = GANTRY_PARAMETER_NOT_SET;
};

// The answer of a callback to a change of parameters.
struct SetParametersResult {
    bool successful = true;
    std::string reason;
};

// Keeps a callback of parameters: the callback is removed when this object is destroyed.
using ParameterCallbackHandle = detail::handle<gantry_parameter_callback, gantry_parameter_callback_destroy>;

namespace detail {

// The functions that callbacks of parameters call. The C functions get their addresses as contexts.
struct on_set_parameters {
    std::function<SetParametersResult(const std::vector<Parameter> &)> function;
    std::string reason = {};  // of the last refusal

    static const char *call(void *context, const gantry_parameter *parameters, std::size_t count) noexcept {
        auto &self = *static_cast<on_set_parameters *>(context);
        auto [is_successful, reason] = self.function(parameter_list(parameters, count));
        self.reason = std::move(reason);
        return is_successful ? nullptr : self.reason.c_str();
    }
};
struct pre_set_parameters {
    std::function<void(std::vector<Parameter> &)> function;
    raw_parameters altered = {};  // by the last call

    static void call(void *context, const gantry_parameter **parameters, std::size_t *count) noexcept {
        auto &self = *static_cast<pre_set_parameters *>(context);
        auto changes = parameter_list(*parameters, *count);
        self.function(changes);
        self.altered = raw_parameters(std::move(changes));
        *parameters = self.altered.data();
        *count = self.altered.size();
    }
};
struct post_set_parameters {
    std::function<void(const std::vector<Parameter> &)> function;

    static void call(void *context, const gantry_parameter *parameters, std::size_t count) noexcept {
        static_cast<post_set_parameters *>(context)->function(parameter_list(parameters, count));
    }
};

// Adds a callback. `add` is the function of gantry.h.
template <class Callback, class Function, class Add>
result<std::shared_ptr<ParameterCallbackHandle>> add_parameter_callback(const gantry_node *node, Function function, Add add) {
    gantry_parameter_callback *made = nullptr;
    auto *context = new Callback{std::move(function)};
    const auto destroy = [](void *kept) noexcept { delete static_cast<Callback *>(kept); };
    const gantry_status status = add(node, Callback::call, context, destroy, &made);
    if (status < 0) return error::last(status);
    return std::make_shared<ParameterCallbackHandle>(made);
}

// The methods of a node for parameters. `Derived::raw` returns the node.
template <class Derived>
class parameter_methods {
public:
    // Declares a parameter, and returns its value: the value of the command line (`-p name:=value`, `--params-file`),
    // or else `value`. A T is a bool, a number, a text, a std::vector of these, or a ParameterValue. The first
    // declaration starts a thread, which runs the node's parameter services.
    template <class T>
    result<parameter_t<T>> declare_parameter(const std::string &name, const T &value, const ParameterDescriptor &descriptor = {}) const {
        auto options = sized<gantry_parameter_options>();
        options.description = descriptor.description.c_str();
        options.is_read_only = descriptor.read_only;
        options.has_dynamic_typing = descriptor.dynamic_typing;
        if (const auto &range = descriptor.integer_range) {
            options.has_integer_range = true;
            options.integer_from = range->from_value;
            options.integer_to = range->to_value;
            options.integer_step = range->step;
        }
        if (const auto &range = descriptor.floating_point_range) {
            options.has_double_range = true;
            options.double_from = range->from_value;
            options.double_to = range->to_value;
            options.double_step = range->step;
        }
        const Parameter declared(name, value);
        const raw_parameter raw(declared);
        return only_parameter<parameter_t<T>>(
            parameters([&](auto **list) { return gantry_node_declare_parameter(node(), &raw.get(), &options, list); }));
    }
    // Removes a parameter with dynamic typing.
    result<void> undeclare_parameter(const std::string &name) const {
        return done(gantry_node_undeclare_parameter(node(), name.c_str()));
    }
    bool has_parameter(const std::string &name) const { return gantry_node_has_parameter(node(), name.c_str()); }

    // Reads a parameter: get_parameter<double>("rate"). ParameterValue reads any type.
    template <class T = ParameterValue>
    result<T> get_parameter(const std::string &name) const {
        return only_parameter<T>(parameters([&](auto **list) { return gantry_node_get_parameter(node(), name.c_str(), list); }));
    }
    // Reads the parameters whose names begin with `prefix` and a dot. The keys are the names without this beginning.
    result<std::map<std::string, ParameterValue>> get_parameters_by_prefix(const std::string &prefix) const {
        auto found = parameters(
            [&](auto **list) { return gantry_node_get_parameters_by_prefix(node(), prefix.c_str(), list); });
        if (!found) return found.error();
        std::map<std::string, ParameterValue> by_name;
        for (auto &[name, value] : *found) by_name.emplace(std::move(name), std::move(value));
        return result<std::map<std::string, ParameterValue>>(std::move(by_name));
    }

    result<void> set_parameter(const Parameter &parameter) const { return set_parameters_atomically({parameter}); }
    // Sets all of these parameters or, after an error, none.
    result<void> set_parameters_atomically(const std::vector<Parameter> &changes) const {
        const raw_parameters raw(changes);
        return done(gantry_node_set_parameters(node(), raw.data(), raw.size()));
    }
    // Reads the properties of a parameter, with its name and type.
    result<ParameterDescriptor> describe_parameter(const std::string &name) const {
        gantry_strings *made = nullptr;
        auto options = sized<gantry_parameter_options>();
        ParameterDescriptor found;
        const gantry_status status = gantry_node_describe_parameter(node(), name.c_str(), &found.type, &options, &made);
        if (status < 0) return error::last(status);
        const strings_handle description(made);
        found.name = name;
        found.description = options.description;
        found.read_only = options.is_read_only;
        found.dynamic_typing = options.has_dynamic_typing;
        if (options.has_integer_range) found.integer_range = {options.integer_from, options.integer_to, options.integer_step};
        if (options.has_double_range) found.floating_point_range = {options.double_from, options.double_to, options.double_step};
        return result<ParameterDescriptor>(std::move(found));
    }
    // The names of the parameters below any of the prefixes; of all parameters if there are no prefixes. `depth`
    // limits the number of parts of a name below its prefix; 0 means no limit.
    result<std::vector<std::string>> list_parameters(const std::vector<std::string> &prefixes = {}, std::uint64_t depth = 0) const {
        std::vector<const char *> raw;
        for (const auto &prefix : prefixes) raw.push_back(prefix.c_str());
        return strings([&](auto **list) { return gantry_node_list_parameters(node(), raw.data(), raw.size(), depth, list); });
    }

    // Adds a function that may refuse changes: SetParametersResult function(const std::vector<Parameter> &). It may
    // read parameters but not change them, and runs on the thread of the change or of the parameter services. It must
    // not throw: an exception ends the program. It is removed when the returned pointer is dropped.
    template <class Function>
    result<std::shared_ptr<ParameterCallbackHandle>> add_on_set_parameters_callback(Function function) const {
        return add_parameter_callback<on_set_parameters>(node(), std::move(function), gantry_node_on_set_parameters);
    }
    // Adds a function that may alter the list before it is set: void function(std::vector<Parameter> &). It is not
    // called for declarations; otherwise as add_on_set_parameters_callback.
    template <class Function>
    result<std::shared_ptr<ParameterCallbackHandle>> add_pre_set_parameters_callback(Function function) const {
        return add_parameter_callback<pre_set_parameters>(node(), std::move(function), gantry_node_before_set_parameters);
    }
    // Adds a function that is called after parameters were set or declared: void function(const
    // std::vector<Parameter> &). Otherwise as add_on_set_parameters_callback.
    template <class Function>
    result<std::shared_ptr<ParameterCallbackHandle>> add_post_set_parameters_callback(Function function) const {
        return add_parameter_callback<post_set_parameters>(node(), std::move(function), gantry_node_after_set_parameters);
    }

private:
    const gantry_node *node() const noexcept { return static_cast<const Derived &>(*this).raw(); }
};

}  // namespace detail

}  // namespace gantry
