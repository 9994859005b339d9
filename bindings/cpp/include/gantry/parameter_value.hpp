// The values of parameters, and their conversion from and to gantry.h.
#pragma once

#include <gantry/handle.hpp>

#include <cstdint>
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

// An array of parameters for a function of gantry.h, with the parameters to which it points.
class raw_parameters {
public:
    raw_parameters() = default;
    explicit raw_parameters(std::vector<Parameter> given) : given_(std::move(given)), kept_(given_.begin(), given_.end()) {
        for (const auto &one : kept_) raw_.push_back(one.get());
    }
    const gantry_parameter *data() const noexcept { return raw_.data(); }
    std::size_t size() const noexcept { return raw_.size(); }

private:
    std::vector<Parameter> given_;
    std::vector<raw_parameter> kept_;
    std::vector<gantry_parameter> raw_;
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

inline std::vector<Parameter> parameter_list(const gantry_parameter *parameters, std::size_t count) {
    std::vector<Parameter> found;
    for (std::size_t i = 0; i < count; i++) found.emplace_back(parameters[i].name, parameter_value(parameters[i]));
    return found;
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

}  // namespace detail

}  // namespace gantry
