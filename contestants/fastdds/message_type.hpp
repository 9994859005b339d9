// The type of the messages of a run. The caller passes a message by its untyped address.

#pragma once

#include <fastdds/dds/topic/TypeSupport.hpp>
#include <memory>

#include "perf_test_backend.h"

// The length of the encapsulation header, which precedes each serialised message and contains its encoding.
constexpr size_t ENCAPSULATION_BYTES = 4;

struct Payload {
    void *start;
    size_t bytes;
};

class MessageType {
public:
    virtual ~MessageType() = default;

    // Creates the type object for Fast DDS, which creates, serialises and deserialises messages.
    virtual eprosima::fastdds::dds::TopicDataType *create_support() const = 0;
    // The size of a message in memory; if the type is plain, a loan needs this size.
    virtual size_t memory_bytes() const = 0;
    // Gives a new message its size and touches its pages.
    virtual void prepare(void *message) const = 0;
    // The bytes that perf_test writes and reads. The result is empty for a message of single fields or of a string.
    virtual Payload payload(void *message) const = 0;
    virtual void stamp(void *message, const perf_test_stamp &stamp) const = 0;
    // Writes time, id and length.
    virtual void read(const void *message, perf_test_taken *taken) const = 0;

    // Returns the type of the messages of a run; nullptr if Fast DDS's types have no such message.
    static std::unique_ptr<MessageType> find(const perf_test_message &message, bool raw);
};
