// Parameters: their values, and the methods of a node that declare, read and set them. The names are the same as in
// rclcpp.
#pragma once

#include <gantry/handle.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <variant>

namespace gantry {

// The value of a parameter. Its index is the number of its type in rcl_interfaces/msg/ParameterType.
using ParameterValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::uint8_t>,
                                    std::vector<bool>, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

namespace detail {

// The type of ParameterValue that holds a T: std::int64_t for each integer, double, std::string for a text.
template <class T>
auto parameter_type() {
    using type = std::decay_t<T>;
    if constexpr (std::is_same_v<type, bool>)
        return bool();
    else if constexpr (std::is_integral_v<type>) {
        static_assert(std::is_signed_v<type> || sizeof(type) < 8, "an integer parameter is a std::int64_t: convert the value");
        return std::int64_t();
    } else if constexpr (std::is_floating_point_v<type>)
        return double();
    else if constexpr (std::is_convertible_v<type, std::string>)
        return std::string();
    else
        return type();
}
template <class T>
using parameter_t = decltype(parameter_type<T>());

}  // namespace detail

// A name and a value.
struct Parameter {
    Parameter() = default;
    template <class T>
    Parameter(std::string its_name, const T &its_value)
        : name(std::move(its_name)), value(detail::parameter_t<T>(its_value)) {}
    Parameter(std::string its_name, ParameterValue its_value) : name(std::move(its_name)), value(std::move(its_value)) {}

    // The value if it is a T (bool, std::int64_t, double, std::string, or a std::vector of one of these or of
    // std::uint8_t), otherwise a null pointer.
    template <class T>
    const T *get_if() const noexcept {
        return std::get_if<T>(&value);
    }

    std::string name;
    ParameterValue value;
};

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
};

// The answer of a callback to a change of parameters.
struct SetParametersResult {
    bool successful = true;
    std::string reason;
};

// Keeps a callback of parameters: the callback is removed when this object is destroyed.
using OnSetParametersCallbackHandle = detail::handle<gantry_parameter_callback, gantry_parameter_callback_destroy>;

namespace detail {

// A gantry_parameter with the memory to which it points.
class raw_parameter {
public:
    explicit raw_parameter(const Parameter &given) {
        raw_.name = given.name.c_str();
        raw_.value_type = static_cast<std::int32_t>(given.value.index());
        std::visit([this](const auto &value) { set(value); }, given.value);
    }
    raw_parameter(const raw_parameter &) = delete;
    raw_parameter(raw_parameter &&) = default;
    const gantry_parameter &get() const noexcept { return raw_; }

private:
    void set(std::monostate) {}
    void set(bool value) { raw_.bool_value = value; }
    void set(std::int64_t value) { raw_.integer_value = value; }
    void set(double value) { raw_.double_value = value; }
    void set(const std::string &value) { raw_.string_value = value.c_str(); }
    void set(const std::vector<bool> &values) {
        bools_.assign(values.begin(), values.end());
        set(bools_);
    }
    void set(const std::vector<std::string> &values) {
        for (const auto &value : values) texts_.push_back(value.c_str());
        set(texts_);
    }
    template <class T>
    void set(const std::vector<T> &values) {
        raw_.elements = values.data();
        raw_.count = values.size();
    }

    gantry_parameter raw_ = {};
    std::vector<std::uint8_t> bools_;
    std::vector<const char *> texts_;
};

template <class T, class Element = T>
std::vector<T> parameter_elements(const gantry_parameter &raw) {
    const auto *elements = static_cast<const Element *>(raw.elements);
    return std::vector<T>(elements, elements + raw.count);
}

inline ParameterValue parameter_value(const gantry_parameter &raw) {
    switch (raw.value_type) {
        case GANTRY_PARAMETER_BOOL: return raw.bool_value;
        case GANTRY_PARAMETER_INTEGER: return raw.integer_value;
        case GANTRY_PARAMETER_DOUBLE: return raw.double_value;
        case GANTRY_PARAMETER_STRING: return std::string(raw.string_value);
        case GANTRY_PARAMETER_BYTE_ARRAY: return parameter_elements<std::uint8_t>(raw);
        case GANTRY_PARAMETER_BOOL_ARRAY: return parameter_elements<bool, bool>(raw);
        case GANTRY_PARAMETER_INTEGER_ARRAY: return parameter_elements<std::int64_t>(raw);
        case GANTRY_PARAMETER_DOUBLE_ARRAY: return parameter_elements<double>(raw);
        case GANTRY_PARAMETER_STRING_ARRAY: return parameter_elements<std::string, const char *>(raw);
        default: return std::monostate();
    }
}

// The list that a function of gantry.h makes. `make` calls the function with the address of the list.
template <class Make>
result<std::vector<Parameter>> parameters(Make make) {
    gantry_parameters *made = nullptr;
    const gantry_status status = make(&made);
    if (status < 0) return error::last(status);
    const handle<gantry_parameters, gantry_parameters_destroy> list(made);
    std::vector<Parameter> found;
    for (std::size_t i = 0; i < gantry_parameters_count(made); i++) {
        const gantry_parameter &raw = *gantry_parameters_get(made, i);
        found.emplace_back(raw.name, parameter_value(raw));
    }
    return result<std::vector<Parameter>>(std::move(found));
}

// The only parameter of a list, as a T.
template <class T>
result<T> only_parameter(result<std::vector<Parameter>> list) {
    if (!list) return list.error();
    Parameter &only = list->front();
    if constexpr (std::is_same_v<T, ParameterValue>) {
        return result<T>(std::move(only.value));
    } else {
        if (T *value = std::get_if<T>(&only.value)) return result<T>(std::move(*value));
        return error{GANTRY_INVALID_ARGUMENT,
                     "parameter \"" + only.name + "\" has another type than the caller asks for: read it as a gantry::ParameterValue"};
    }
}

// The function that a callback of parameters calls, and the text of its last refusal.
struct on_set_parameters {
    std::function<SetParametersResult(const std::vector<Parameter> &)> function;
    std::string reason;

    static const char *call(void *context, const gantry_parameter *parameters, std::size_t count) noexcept {
        auto &self = *static_cast<on_set_parameters *>(context);
        std::vector<Parameter> changes;
        for (std::size_t i = 0; i < count; i++) changes.emplace_back(parameters[i].name, parameter_value(parameters[i]));
        auto [is_successful, reason] = self.function(changes);
        self.reason = std::move(reason);
        return is_successful ? nullptr : self.reason.c_str();
    }
    static void destroy(void *context) noexcept { delete static_cast<on_set_parameters *>(context); }
};

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
        std::vector<raw_parameter> kept(changes.begin(), changes.end());
        std::vector<gantry_parameter> raw;
        for (const auto &one : kept) raw.push_back(one.get());
        return done(gantry_node_set_parameters(node(), raw.data(), raw.size()));
    }
    // Adds a function that may refuse changes: SetParametersResult function(const std::vector<Parameter> &). It may
    // read parameters but not change them, and runs on the thread of the change or of the parameter services. It must
    // not throw: an exception ends the program. It is removed when the returned pointer is dropped.
    template <class Function>
    result<std::shared_ptr<OnSetParametersCallbackHandle>> add_on_set_parameters_callback(Function function) const {
        gantry_parameter_callback *made = nullptr;
        auto *context = new on_set_parameters{std::move(function), {}};
        const gantry_status status = gantry_node_on_set_parameters(node(), on_set_parameters::call, context,
                                                                   on_set_parameters::destroy, &made);
        if (status < 0) return error::last(status);
        return std::make_shared<OnSetParametersCallbackHandle>(made);
    }

private:
    const gantry_node *node() const noexcept { return static_cast<const Derived &>(*this).raw(); }
};

}  // namespace detail

}  // namespace gantry
