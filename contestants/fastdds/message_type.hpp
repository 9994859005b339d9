// The type of the messages of a run, of which a message is known by its address only.

#pragma once

#include <fastdds/dds/topic/TypeSupport.hpp>
#include <memory>

#include "perf_test_backend.h"

// The bytes before each serialised message, which name its encoding.
constexpr size_t ENCAPSULATION_BYTES = 4;

struct Payload {
    void *start;
    size_t bytes;
};

class MessageType {
public:
    virtual ~MessageType() = default;

    // A new type for Fast DDS: it creates, serialises and deserialises messages.
    virtual eprosima::fastdds::dds::TopicDataType *create_support() const = 0;
    // The memory of a message: of a loan if the type is plain.
    virtual size_t memory_bytes() const = 0;
    // Gives a new message its size and touches its pages.
    virtual void prepare(void *message) const = 0;
    // The bytes that perf_test writes and reads; none of a message of single fields or of a text.
    virtual Payload payload(void *message) const = 0;
    virtual void stamp(void *message, const perf_test_stamp &stamp) const = 0;
    // Writes time, id and length.
    virtual void read(const void *message, perf_test_taken *taken) const = 0;

    // The type of the messages of a run; none if Fast DDS's types have no such message.
    static std::unique_ptr<MessageType> find(const perf_test_message &message, bool raw);
};
