// Access to the payload and the stamp of the benchmark messages; the fields have different names in different messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "perf_test_backend.h"

namespace message {

template <class T, class = void> constexpr bool has_array = false;
template <class T> constexpr bool has_array<T, std::void_t<decltype(std::declval<T>().array)>> = true;
template <class T, class = void> constexpr bool has_data = false;
template <class T> constexpr bool has_data<T, std::void_t<decltype(std::declval<T>().data)>> = true;
template <class T, class = void> constexpr bool has_bounded_sequence = false;
template <class T>
constexpr bool has_bounded_sequence<T, std::void_t<decltype(std::declval<T>().bounded_sequence)>> = true;
template <class T, class = void> constexpr bool has_unbounded_sequence = false;
template <class T>
constexpr bool has_unbounded_sequence<T, std::void_t<decltype(std::declval<T>().unbounded_sequence)>> = true;
template <class T, class = void> constexpr bool has_unbounded_string = false;
template <class T>
constexpr bool has_unbounded_string<T, std::void_t<decltype(std::declval<T>().unbounded_string)>> = true;
// The messages of performance_test have a time and an id, the messages of iRobot a header.
template <class T, class = void> constexpr bool has_id = false;
template <class T> constexpr bool has_id<T, std::void_t<decltype(std::declval<T>().id)>> = true;

struct Payload {
    const void *data; // null for a string: its characters are not overwritten
    std::size_t bytes;
};

template <class Elements> Payload bytes_of(const Elements &elements) {
    // This avoids data(), because a const BoundedVector has no data().
    return {elements.empty() ? nullptr : &elements[0], elements.size() * sizeof elements[0]};
}

template <class T> Payload payload(const T &message) {
    if constexpr (has_array<T>) {
        return bytes_of(message.array);
    } else if constexpr (has_data<T>) {
        return bytes_of(message.data);
    } else if constexpr (has_bounded_sequence<T>) {
        return bytes_of(message.bounded_sequence);
    } else if constexpr (has_unbounded_sequence<T>) {
        return bytes_of(message.unbounded_sequence);
    } else if constexpr (has_unbounded_string<T>) {
        return {nullptr, message.unbounded_string.size()};
    } else { // messages without a payload field: the bytes before the time
        static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
        const auto *begin = reinterpret_cast<const std::uint8_t *>(&message);
        return {begin, static_cast<std::size_t>(reinterpret_cast<const std::uint8_t *>(&message.time) - begin)};
    }
}

// Gives a new message the size of its payload.
template <class T> void prepare(T &message, const perf_test_message &type) {
    if constexpr (has_bounded_sequence<T>) {
        message.bounded_sequence.resize(message.bounded_sequence.max_size());
    } else if constexpr (has_unbounded_sequence<T>) {
        message.unbounded_sequence.resize(type.unbounded_bytes);
    } else if constexpr (has_unbounded_string<T>) {
        message.unbounded_string.assign(type.unbounded_bytes, 'x');
    } else if constexpr (has_data<T> && !std::is_trivially_copyable_v<T>) {
        message.data.resize(type.unbounded_bytes);
    }
}

// Writes the payload and then the stamp.
template <class T> void fill(T &message, perf_test_draft *draft, std::uint64_t id_mask, std::uint64_t id_mark) {
    const Payload own = payload(message);
    if (own.data != nullptr) {
        perf_test_draft_write(draft, const_cast<void *>(own.data), own.bytes);
    }
    const perf_test_stamp stamp = perf_test_draft_stamp(draft);
    if constexpr (has_id<T>) {
        message.time = stamp.time_ns;
        message.id = (stamp.id & id_mask) | id_mark;
    } else {
        auto &header = message.header;
        header.stamp.sec = static_cast<std::int32_t>(stamp.time_ns / 1'000'000'000);
        header.stamp.nanosec = static_cast<std::uint32_t>(stamp.time_ns % 1'000'000'000);
        header.tracking_number = static_cast<std::uint32_t>((stamp.id & id_mask) | id_mark);
        header.frequency = static_cast<float>(stamp.rate_hz);
        header.size = static_cast<std::uint32_t>(own.bytes);
    }
}

// Returns the number of bytes of a message of this type that are not payload.
template <class T> std::uint64_t overhead_bytes(const perf_test_message &type) {
    const auto expected = std::make_unique<T>();
    prepare(*expected, type);
    return type.bytes - payload(*expected).bytes;
}

// Reads the stamp and the payload. `overhead_bytes` is the number of bytes of the message that are not payload.
template <class T> void read(const T &message, std::uint64_t overhead_bytes, perf_test_taken &taken) {
    const Payload own = payload(message);
    taken.length_bytes = overhead_bytes + own.bytes;
    taken.payload = own.data;
    taken.payload_bytes = own.data == nullptr ? 0 : own.bytes;
    if constexpr (has_id<T>) {
        taken.time_ns = message.time;
        taken.id = message.id;
    } else {
        const auto &header = message.header;
        taken.time_ns = std::int64_t{header.stamp.sec} * 1'000'000'000 + header.stamp.nanosec;
        taken.id = header.tracking_number;
    }
}

} // namespace message
