// Results: a value, or an error with a sentence, as C++23's std::expected.
//
// No function of Gantry throws, except result::value() without a value: it throws gantry::exception, or ends the
// program where exceptions are switched off (-fno-exceptions). Where memory is short, a sentence or a list may throw
// std::bad_alloc.
#pragma once

#include <gantry.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions) && !defined(GANTRY_NO_EXCEPTIONS)
#define GANTRY_HAS_EXCEPTIONS 1
#include <stdexcept>
#else
#define GANTRY_HAS_EXCEPTIONS 0
#endif

namespace gantry {

// A status of gantry.h below 0, and the sentence with the values and what to do next.
struct error {
    gantry_status status = GANTRY_ERROR;
    std::string message;

    // The last error of this thread.
    static error last(gantry_status status) { return {status, gantry_last_error()}; }
};

#if GANTRY_HAS_EXCEPTIONS
// The exception of result::value().
class exception : public std::runtime_error {
public:
    explicit exception(const gantry::error &why) : std::runtime_error(why.message), status_(why.status) {}
    gantry_status status() const noexcept { return status_; }

private:
    gantry_status status_;
};
#endif

namespace detail {

// The end of value() without a value. It is a template argument of each function in which it differs: where a program
// links files with and without exceptions, these are different functions for the linker.
#if GANTRY_HAS_EXCEPTIONS
struct throwing {
    [[noreturn]] static void no_value(const gantry::error &why) { throw exception(why); }
};
using ending = throwing;
#else
struct aborting {
    [[noreturn]] static void no_value(const gantry::error &why) {
        std::fprintf(stderr, "gantry: %s\n", why.message.c_str());
        std::abort();
    }
};
using ending = aborting;
#endif

// A struct of gantry.h that begins with its size.
template <class T>
constexpr T sized() noexcept {
    T made = {};
    made.struct_size = sizeof made;
    return made;
}

}  // namespace detail

// A value or an error.
template <class T>
class [[nodiscard]] result {
public:
    using value_type = T;

    result(T value) : value_(std::move(value)) {}
    result(gantry::error why) : error_(std::move(why)) {}

    bool has_value() const noexcept { return value_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    // Only with a value.
    T &operator*() & noexcept { return *value_; }
    const T &operator*() const & noexcept { return *value_; }
    T &&operator*() && noexcept { return *std::move(value_); }
    T *operator->() noexcept { return &*value_; }
    const T *operator->() const noexcept { return &*value_; }

    // The value; without one it throws gantry::exception, or ends the program where exceptions are switched off.
    template <class Ending = detail::ending>
    T &value() & {
        if (!has_value()) Ending::no_value(error_);
        return *value_;
    }
    template <class Ending = detail::ending>
    const T &value() const & {
        if (!has_value()) Ending::no_value(error_);
        return *value_;
    }
    template <class Ending = detail::ending>
    T &&value() && {
        if (!has_value()) Ending::no_value(error_);
        return *std::move(value_);
    }
    template <class Other>
    T value_or(Other &&other) && {
        return has_value() ? *std::move(value_) : static_cast<T>(std::forward<Other>(other));
    }

    // Only without a value.
    const gantry::error &error() const noexcept { return error_; }

private:
    std::optional<T> value_;
    gantry::error error_{GANTRY_OK, {}};
};

// Nothing or an error.
template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() = default;
    result(gantry::error why) : error_(std::move(why)) {}

    bool has_value() const noexcept { return error_.status == GANTRY_OK; }
    explicit operator bool() const noexcept { return has_value(); }
    template <class Ending = detail::ending>
    void value() const {
        if (!has_value()) Ending::no_value(error_);
    }
    const gantry::error &error() const noexcept { return error_; }

private:
    gantry::error error_{GANTRY_OK, {}};
};

namespace detail {

// Nothing, or the last error of this thread if the status is one.
inline result<void> done(gantry_status status) {
    if (status < 0) return error::last(status);
    return {};
}

// Whether the status is GANTRY_OK: false for a timeout.
inline result<bool> whether(gantry_status status) {
    if (status < 0) return error::last(status);
    return status == GANTRY_OK;
}

}  // namespace detail

}  // namespace gantry
