// A message type that fastddsgen has generated. Its stamp is either its last fields, time and id, or iRobot's header.

#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "generated_support.hpp"
#include "message_type.hpp"

// True if T has a member function NAME.
#define HAS(NAME) \
    template <class T, class = void> struct has_##NAME : std::false_type {}; \
    template <class T> struct has_##NAME<T, std::void_t<decltype(std::declval<T &>().NAME())>> : std::true_type {};
HAS(tracking_number)
HAS(array)
HAS(data)
HAS(bounded_sequence)
HAS(unbounded_sequence)
HAS(unbounded_string)
#undef HAS

template <class T, class = void> struct has_performance_header : std::false_type {};
template <class T>
struct has_performance_header<T, std::void_t<decltype(std::declval<T &>().header())>>
    : has_tracking_number<std::decay_t<decltype(std::declval<T &>().header())>> {};

template <class Array> Payload bytes_of(Array &array) { return {array.data(), array.size() * sizeof array[0]}; }

template <class T> class GeneratedMessage : public MessageType {
public:
    explicit GeneratedMessage(const perf_test_message &message)
        : content(message.content), bytes(message.bytes), unbounded_bytes(message.unbounded_bytes),
          last_id(message.last_id) {}

    eprosima::fastdds::dds::TopicDataType *create_support() const override {
        return new GeneratedSupport<T>(!IS_SIZED, IS_BOUNDED);
    }

    size_t memory_bytes() const override { return sizeof(T); }

    void prepare(void *memory) const override {
        T &message = *static_cast<T *>(memory);
        if constexpr (has_bounded_sequence<T>::value)
            message.bounded_sequence().assign(bytes - PREFIX_BYTES - STAMP_BYTES, 0);
        else if constexpr (has_unbounded_sequence<T>::value) message.unbounded_sequence().assign(unbounded_bytes, 0);
        else if constexpr (has_unbounded_string<T>::value) message.unbounded_string().assign(unbounded_bytes, 'Z');
        else if constexpr (IS_VECTOR) message.data().assign(unbounded_bytes, 0);
    }

    Payload payload(void *memory) const override {
        T &message = *static_cast<T *>(memory);
        if constexpr (has_array<T>::value) return bytes_of(message.array());
        else if constexpr (has_data<T>::value) return bytes_of(message.data());
        else if constexpr (has_bounded_sequence<T>::value) return bytes_of(message.bounded_sequence());
        else if constexpr (has_unbounded_sequence<T>::value) return bytes_of(message.unbounded_sequence());
        else return {memory, content == PERF_TEST_PLAIN ? bytes - STAMP_BYTES : 0};
    }

    void stamp(void *memory, const perf_test_stamp &stamp) const override {
        T &message = *static_cast<T *>(memory);
        if constexpr (has_performance_header<T>::value) {
            auto &header = message.header();
            header.stamp().sec(static_cast<int32_t>(stamp.time_ns / SECOND_NS));
            header.stamp().nanosec(static_cast<uint32_t>(stamp.time_ns % SECOND_NS));
            header.tracking_number(static_cast<uint32_t>(stamp.id & last_id));
            header.frequency(static_cast<float>(stamp.rate_hz));
            header.size(static_cast<uint32_t>(bytes_of(message.data()).bytes));
        } else {
            message.time(stamp.time_ns);
            message.id(stamp.id & last_id);
        }
    }

    void read(const void *memory, perf_test_taken *taken) const override {
        const T &message = *static_cast<const T *>(memory);
        if constexpr (has_performance_header<T>::value) {
            const auto &header = message.header();
            taken->time_ns = header.stamp().sec() * SECOND_NS + header.stamp().nanosec();
            taken->id = header.tracking_number();
        } else {
            taken->time_ns = message.time();
            taken->id = message.id();
        }
        taken->length_bytes = IS_SIZED ? T::getCdrSerializedSize(message) : bytes;
    }

private:
    static constexpr int64_t SECOND_NS = 1000000000;
    // STAMP_BYTES: the length of time and id. PREFIX_BYTES: the length of the element count before a sequence, with the
    // padding after the sequence.
    static constexpr size_t STAMP_BYTES = 16, PREFIX_BYTES = 8;
    static constexpr bool is_vector() {
        if constexpr (has_performance_header<T>::value)
            return !std::is_trivially_copyable_v<std::decay_t<decltype(std::declval<T &>().data())>>;
        else return false;
    }
    static constexpr bool IS_VECTOR = is_vector();
    static constexpr bool IS_BOUNDED =
        !IS_VECTOR && !has_unbounded_sequence<T>::value && !has_unbounded_string<T>::value;
    // True if the size of a message depends on its content.
    static constexpr bool IS_SIZED = !IS_BOUNDED || has_bounded_sequence<T>::value;

    uint32_t content;
    uint64_t bytes;
    uint32_t unbounded_bytes;
    uint64_t last_id;
};
