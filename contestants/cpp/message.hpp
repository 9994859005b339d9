// Access to the payload and the stamp (time and id) of a benchmark message; the fields have different names in
// different messages. A message is a struct, whose fields are members, or a view of serialised bytes, whose fields are
// functions.
#pragma once

#include <gantry/cdr.hpp>

#include <type_traits>

#include "perf_test_backend.h"

namespace benchmark {

struct Payload {
    const void *data = nullptr; // null for a string: its characters are not overwritten
    size_t bytes = 0;
};

template <class Elements>
auto bytes_of(const Elements &elements) -> decltype(elements.data(), Payload{}) {
    return {elements.data(), elements.size() * sizeof *elements.data()};
}

// Overloads of a higher rank are preferred.
template <int N> struct rank : rank<N - 1> {};
template <> struct rank<0> {};

#define PAYLOAD(field)                                                                                                           \
    template <class T> auto field(T &message, rank<2>) -> decltype(bytes_of(message.field)) { return bytes_of(message.field); }  \
    template <class T> auto field(T &message, rank<1>) -> decltype(bytes_of(message.field())) {                                  \
        return bytes_of(message.field());                                                                                        \
    }                                                                                                                            \
    template <class T> void field(T &, rank<0>) {}
PAYLOAD(array)
PAYLOAD(bounded_sequence)
PAYLOAD(unbounded_sequence)
PAYLOAD(data)
#undef PAYLOAD

template <class T> auto header(T &message, rank<2>) -> decltype((message.header.tracking_number, message.header)) { return message.header; }
template <class T> auto header(T &message, rank<1>) -> decltype((message.header().tracking_number, message.header())) {
    return message.header();
}
template <class T> void header(T &, rank<0>) {}

#define HAS(field, T) (!std::is_void_v<decltype(field(std::declval<T &>(), rank<2>()))>)

template <class T> Payload payload(T &message) {
    if constexpr (HAS(array, T)) return array(message, rank<2>());
    else if constexpr (HAS(bounded_sequence, T)) return bounded_sequence(message, rank<2>());
    else if constexpr (HAS(unbounded_sequence, T)) return unbounded_sequence(message, rank<2>());
    else if constexpr (HAS(data, T)) return data(message, rank<2>());
    else if constexpr (std::is_member_object_pointer_v<decltype(&std::remove_const_t<T>::time)>) { // bytes before `time`
        const auto *begin = reinterpret_cast<const uint8_t *>(&message);
        return {begin, static_cast<size_t>(reinterpret_cast<const uint8_t *>(&message.time) - begin)};
    } else return {};
}

template <class T> auto set_stamp(T &message, int64_t time_ns, uint64_t id, rank<1>) -> decltype(message.set_time(time_ns)) {
    message.set_time(time_ns);
    message.set_id(id);
}
template <class T> void set_stamp(T &message, int64_t time_ns, uint64_t id, rank<0>) {
    message.time = time_ns;
    message.id = id;
}

// Writes the payload and then the stamp.
template <class T> void fill(T &message, perf_test_draft *draft, uint64_t last_id) {
    const Payload own = payload(message);
    if (own.data) perf_test_draft_write(draft, const_cast<void *>(own.data), own.bytes);
    const perf_test_stamp stamp = perf_test_draft_stamp(draft);
    if constexpr (HAS(header, T)) {
        auto &own_header = header(message, rank<2>());
        own_header.stamp.sec = static_cast<int32_t>(stamp.time_ns / 1000000000);
        own_header.stamp.nanosec = static_cast<uint32_t>(stamp.time_ns % 1000000000);
        own_header.tracking_number = static_cast<uint32_t>(stamp.id & last_id);
        own_header.frequency = static_cast<float>(stamp.rate_hz);
        own_header.size = static_cast<uint32_t>(own.bytes);
    } else {
        set_stamp(message, stamp.time_ns, stamp.id & last_id, rank<1>());
    }
}

template <class T> auto stamp_of(const T &message, perf_test_taken *taken, rank<1>) -> decltype(message.time(), void()) {
    taken->time_ns = message.time();
    taken->id = message.id();
}
template <class T> void stamp_of(const T &message, perf_test_taken *taken, rank<0>) {
    taken->time_ns = message.time;
    taken->id = message.id;
}

// Reads the stamp and the payload.
template <class T> void read(const T &message, perf_test_taken *taken) {
    const Payload own = payload(message);
    taken->payload = own.data;
    taken->payload_bytes = own.bytes;
    if constexpr (HAS(header, const T)) {
        const auto &own_header = header(message, rank<2>());
        taken->time_ns = int64_t{own_header.stamp.sec} * 1000000000 + own_header.stamp.nanosec;
        taken->id = own_header.tracking_number;
    } else {
        stamp_of(message, taken, rank<1>());
    }
}
#undef HAS

// The shape of the run's messages, which has the lengths of their sequences and strings. `text` is the value of a
// string field.
template <class Kind> struct bound;
template <class T, uint32_t Bound> struct bound<gantry::cdr::sequence<T, Bound>> {
    static constexpr uint32_t value = Bound;
};

template <class M, class S> auto set_bounded(S &shape, rank<1>) -> decltype(shape.bounded_sequence, void()) {
    shape.bounded_sequence = bound<typename M::kinds_::bounded_sequence>::value;
}
template <class M, class S> void set_bounded(S &, rank<0>) {}
template <class S> auto set_unbounded(S &shape, size_t bytes, rank<1>) -> decltype(shape.unbounded_sequence, void()) {
    shape.unbounded_sequence = bytes;
}
template <class S> void set_unbounded(S &, size_t, rank<0>) {}
template <class S> auto set_data(S &shape, size_t bytes, rank<1>) -> decltype(shape.data, void()) { shape.data = bytes; }
template <class S> void set_data(S &, size_t, rank<0>) {}
template <class S> auto set_text(S &shape, std::string_view text, rank<1>) -> decltype(shape.unbounded_string, void()) {
    shape.unbounded_string = text;
}
template <class S> void set_text(S &, std::string_view, rank<0>) {}

template <class M> typename gantry::message<M>::shape shape(size_t unbounded_bytes, std::string_view text) {
    typename gantry::message<M>::shape made;
    set_bounded<M>(made, rank<1>());
    set_unbounded(made, unbounded_bytes, rank<1>());
    set_data(made, unbounded_bytes, rank<1>());
    set_text(made, text, rank<1>());
    return made;
}

} // namespace benchmark
