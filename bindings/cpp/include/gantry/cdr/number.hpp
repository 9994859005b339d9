// Numbers, booleans and plain messages, and spans for sequences and arrays of them.
#pragma once

#include <gantry/cdr/position.hpp>
#include <gantry/span.hpp>

#include <algorithm>
#include <memory>

namespace gantry {

// The generated description of a message type M:
//   name            the name of the type, such as "sensor_msgs/msg/Image"
//   type()          the type as a gantry_type
//   is_plain        whether M is a struct whose memory is its CDR at the start of a message
//   kind            the kind of a field of type M in another message
//   shape           the texts and lengths that determine the size of the message
//   view, mut_view  access in memory: a class, or a pointer to the struct if M is plain
//   set_defaults    sets the defaults of a plain message
template <class M>
struct message;

// Maps ROS 2's message class `Ros` to the class `type` that reads and writes the message in shared memory. The
// generated headers of messages specialise it for gantry_rclcpp. It does not include headers of ROS 2.
template <class Ros>
struct of_ros {
    static_assert(sizeof(Ros) == 0, "include the message's header: <gantry_msgs/PACKAGE/msg/NAME.hpp>");
};

}  // namespace gantry

namespace gantry::cdr {

// The elements of arrays and sequences of numbers and plain messages. An element has the same bytes in C++ and in CDR.
// A bool is one byte, 0 or 1.
template <class T>
struct element {
    using stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
    static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);

    static bool check(cursor &from, std::uint32_t start, std::size_t count) {
        if constexpr (std::is_same_v<T, bool>) {
            for (std::size_t i = 0; i < count; i++) {
                const std::uint8_t value = from.body()[start + i];
                if (value > 1) return from.fail_at(start, "a boolean is " + std::to_string(value) + "; it may be 0 or 1");
            }
        }
        return true;
    }

    // Writes the defaults of elements whose memory was reserved just now. Booleans always get their default.
    static void set_defaults(std::uint8_t *at, std::size_t count) {
        if constexpr (std::is_same_v<T, bool>) {
            if (count) std::memset(at, 0, count);
        } else if (count * sizeof(T) <= max_default_bytes) {
            if constexpr (std::is_class_v<T>) {
                for (std::size_t i = 0; i < count; i++)
                    message<T>::set_defaults(*reinterpret_cast<T *>(at + i * sizeof(T)));
            } else if (count) {
                std::memset(at, 0, count * sizeof(T));
            }
        }
    }
};

// A number or a bool.
template <class T>
struct number {
    using layout = std::uint32_t;
    using shape = no_shape;
    using ref = T;

    static bool locate(cursor &from, layout &at) {
        return from.take(sizeof(T), sizeof(T), at) && element<T>::check(from, at, 1);
    }
    static T get(const std::uint8_t *body, std::size_t, layout at) noexcept {
        typename element<T>::stored value;
        std::memcpy(&value, body + at, sizeof value);
        if constexpr (std::is_same_v<T, bool>)
            return value != 0;
        else
            return value;
    }
    static void set(std::uint8_t *body, layout at, T value) noexcept {
        const typename element<T>::stored stored = value;
        std::memcpy(body + at, &stored, sizeof stored);
    }
    static bool compose(composer &to, no_shape, layout &at) { return compose_value(to, T{}, at); }
    static bool compose_value(composer &to, T value, layout &at) {
        if (!to.reserve(sizeof(T), sizeof(T), at)) return false;
        if (!to.counts()) set(to.memory(), at, value);
        return true;
    }
    static no_shape shape_of(T) { return {}; }
};

// A plain message as a field.
template <class T>
struct plain {
    using layout = std::uint32_t;
    using shape = no_shape;
    using ref = const T &;
    using mut = T &;

    static bool locate(cursor &from, layout &at) { return from.take(sizeof(T), alignof(T), at); }
    static ref get(const std::uint8_t *body, std::size_t, layout at) noexcept {
        return *reinterpret_cast<const T *>(body + at);
    }
    static mut get_mut(std::uint8_t *body, std::size_t, layout at) noexcept { return *reinterpret_cast<T *>(body + at); }
    static bool compose(composer &to, no_shape, layout &at) {
        if (!to.reserve(sizeof(T), alignof(T), at)) return false;
        if (!to.counts()) message<T>::set_defaults(get_mut(to.memory(), 0, at));
        return true;
    }
    static no_shape shape_of(const T &) { return {}; }
    static void copy(mut to, ref from) { to = from; }
};

// A sequence of numbers, booleans or plain messages. Its shape is the number of elements. An empty sequence has no
// padding.
template <class T, std::uint32_t Bound = unbounded>
struct sequence {
    using layout = extent;
    using shape = std::size_t;
    using ref = span<const typename element<T>::stored>;
    using mut = span<typename element<T>::stored>;

    static bool locate(cursor &from, layout &at) {
        std::size_t length = 0;
        if (!from.length(length) || !from.check_bound(from.offset(), length, Bound)) return false;
        if (!from.take(length * sizeof(T), length ? alignof(T) : 1, at.start)) return false;
        at.count = static_cast<std::uint32_t>(length);
        return element<T>::check(from, at.start, length);
    }
    static ref get(const std::uint8_t *body, std::size_t, layout at) noexcept {
        return {at.count ? reinterpret_cast<const typename element<T>::stored *>(body + at.start) : nullptr, at.count};
    }
    static mut get_mut(std::uint8_t *body, std::size_t, layout at) noexcept {
        return {at.count ? reinterpret_cast<typename element<T>::stored *>(body + at.start) : nullptr, at.count};
    }
    static bool compose(composer &to, std::size_t count, layout &at) {
        if (!to.length(count, Bound) || !to.reserve(count * sizeof(T), count ? alignof(T) : 1, at.start)) return false;
        at.count = static_cast<std::uint32_t>(count);
        if (!to.counts()) element<T>::set_defaults(to.memory() + at.start, count);
        return true;
    }
    static shape shape_of(ref value) { return value.size(); }
    // The smaller size is copied, because another process may have changed the length of `from` since its shape was
    // taken.
    static void copy(mut to, ref from) {
        std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
    }
};

// An array of numbers, booleans or plain messages.
template <class T, std::size_t N>
struct array {
    using layout = std::uint32_t;
    using shape = no_shape;
    using ref = span<const typename element<T>::stored>;
    using mut = span<typename element<T>::stored>;

    static bool locate(cursor &from, layout &at) {
        return from.take(N * sizeof(T), alignof(T), at) && element<T>::check(from, at, N);
    }
    static ref get(const std::uint8_t *body, std::size_t, layout at) noexcept {
        return {reinterpret_cast<const typename element<T>::stored *>(body + at), N};
    }
    static mut get_mut(std::uint8_t *body, std::size_t, layout at) noexcept {
        return {reinterpret_cast<typename element<T>::stored *>(body + at), N};
    }
    static bool compose(composer &to, no_shape, layout &at) {
        if (!to.reserve(N * sizeof(T), alignof(T), at)) return false;
        if (!to.counts()) element<T>::set_defaults(to.memory() + at, N);
        return true;
    }
    static shape shape_of(ref) { return {}; }
    static void copy(mut to, ref from) { std::copy(from.begin(), from.end(), to.begin()); }
};

// Builds an array or sequence of numbers, and writes `defaults` to its first elements.
template <class K, std::size_t N>
bool compose_with(composer &to, const typename K::shape &shape, const typename K::mut::value_type (&defaults)[N],
                  typename K::layout &at) {
    if (!K::compose(to, shape, at)) return false;
    if (to.counts()) return true;
    const auto target = K::get_mut(to.memory(), 0, at);
    std::copy(defaults, defaults + std::min(N, target.size()), target.begin());
    return true;
}

}  // namespace gantry::cdr
