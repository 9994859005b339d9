// Results: a value, or an error with a sentence, like C++23's std::expected.
//
// Gantry throws only in result::value() without a value: it throws gantry::exception. If exceptions are disabled
// (-fno-exceptions), it ends the program instead. If memory is short, the allocation of a text or a list may throw
// std::bad_alloc.
#pragma once

#include <gantry.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
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

// An error: a status of gantry.h below 0, and a sentence with the values and what to do next.
struct error {
    gantry_status status = GANTRY_ERROR;
    std::string message;

    // The last error of the calling thread. It is a cold path: inlined, it would spread the code of success over more
    // cache lines.
    [[gnu::cold, gnu::noinline]] static error last(gantry_status status) { return {status, gantry_last_error()}; }
};

#if GANTRY_HAS_EXCEPTIONS
// The exception that result::value() throws.
class exception : public std::runtime_error {
public:
    explicit exception(const gantry::error &why) : std::runtime_error(why.message), status_(why.status) {}
    gantry_status status() const noexcept { return status_; }

private:
    gantry_status status_;
};
#endif

namespace detail {

// The behaviour of value() without a value. It is a template argument of each function that depends on it. A program
// may link files with and without exceptions; the linker then sees different functions.
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

// An error or none. It is only a pointer, so that a success touches little memory.
class maybe_error {
public:
    maybe_error() noexcept = default;
    [[gnu::cold, gnu::noinline]] maybe_error(error why) : error_(std::make_unique<error>(std::move(why))) {}
    // A moved-from error stays an error, so a failure never turns into a success.
    maybe_error(maybe_error &&other) : error_(other ? taken(*other) : nullptr) {}
    maybe_error &operator=(maybe_error &&other) {
        if (this != &other) error_ = other ? taken(*other) : nullptr;
        return *this;
    }
    maybe_error(const maybe_error &other) { copy(other); }
    maybe_error &operator=(const maybe_error &other) {
        if (this != &other) copy(other);
        return *this;
    }
    explicit operator bool() const noexcept { return error_ != nullptr; }
    const error &operator*() const noexcept { return *error_; }
    error &operator*() noexcept { return *error_; }

private:
    [[gnu::cold, gnu::noinline]] static std::unique_ptr<error> taken(error &why) {
        return std::make_unique<error>(std::move(why));
    }
    void copy(const maybe_error &other) { error_ = other ? std::make_unique<error>(*other) : nullptr; }

    std::unique_ptr<error> error_;
};

// An empty struct of gantry.h whose first field is set to the struct's size.
template <class T>
constexpr T sized() noexcept {
    T made = {};
    made.struct_size = sizeof made;
    return made;
}

}  // namespace detail

// The result of a function that may fail: a value or an error.
template <class T>
class [[nodiscard]] result {
public:
    using value_type = T;

    result(const T &value) : value_(value) {}
    result(T &&value) : value_(std::move(value)) {}
    result(gantry::error why) : error_(std::move(why)) {}
    // Constructs the value in its place.
    template <class... Arguments>
    explicit result(std::in_place_t, Arguments &&...arguments) : value_(std::in_place, std::forward<Arguments>(arguments)...) {}

    bool has_value() const noexcept { return value_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    // Call these only if there is a value.
    T &operator*() & noexcept { return *value_; }
    const T &operator*() const & noexcept { return *value_; }
    T &&operator*() && noexcept { return *std::move(value_); }
    T *operator->() noexcept { return &*value_; }
    const T *operator->() const noexcept { return &*value_; }

    // The value. If there is none, throws gantry::exception, or ends the program if exceptions are disabled.
    template <class Ending = detail::ending>
    T &value() & {
        if (!has_value()) Ending::no_value(*error_);
        return *value_;
    }
    template <class Ending = detail::ending>
    const T &value() const & {
        if (!has_value()) Ending::no_value(*error_);
        return *value_;
    }
    template <class Ending = detail::ending>
    T &&value() && {
        if (!has_value()) Ending::no_value(*error_);
        return *std::move(value_);
    }
    template <class Other>
    T value_or(Other &&other) && {
        return has_value() ? *std::move(value_) : static_cast<T>(std::forward<Other>(other));
    }

    // The error. Call this only if there is no value.
    const gantry::error &error() const noexcept { return *error_; }

private:
    std::optional<T> value_;
    detail::maybe_error error_;
};

// Success without a value, or an error.
template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() = default;
    result(gantry::error why) : error_(std::move(why)) {}

    bool has_value() const noexcept { return !error_; }
    explicit operator bool() const noexcept { return has_value(); }
    template <class Ending = detail::ending>
    void value() const {
        if (!has_value()) Ending::no_value(*error_);
    }
    const gantry::error &error() const noexcept { return *error_; }

private:
    detail::maybe_error error_;
};

namespace detail {

// Success, or the last error of this thread if `status` is an error.
inline result<void> done(gantry_status status) {
    if (status < 0) return error::last(status);
    return {};
}

// True if `status` is GANTRY_OK, false for a timeout, or the last error of this thread.
inline result<bool> whether(gantry_status status) {
    if (status < 0) return error::last(status);
    return status == GANTRY_OK;
}

}  // namespace detail

}  // namespace gantry
