// A message without a type (--raw): its time and id, little-endian, then its payload. For Fast DDS the message is an
// array of octets, which is copied unchanged after the encapsulation header.

#pragma once

#include <cstdlib>

#include "message_type.hpp"

class RawSupport : public eprosima::fastdds::dds::TopicDataType {
    using Representation = eprosima::fastdds::dds::DataRepresentationId_t;
    using Serialized = eprosima::fastdds::rtps::SerializedPayload_t;

public:
    explicit RawSupport(size_t message_bytes) : bytes(message_bytes) {
        max_serialized_type_size = static_cast<uint32_t>(ENCAPSULATION_BYTES + bytes);
    }

    bool serialize(const void *data, Serialized &payload, Representation) override {
        if (payload.max_size < ENCAPSULATION_BYTES + bytes) return false;
        payload.encapsulation = DEFAULT_ENCAPSULATION;
        const uint8_t encapsulation[ENCAPSULATION_BYTES] = {0, DEFAULT_ENCAPSULATION, 0, 0};
        memcpy(payload.data, encapsulation, ENCAPSULATION_BYTES);
        memcpy(payload.data + ENCAPSULATION_BYTES, data, bytes);
        payload.length = static_cast<uint32_t>(ENCAPSULATION_BYTES + bytes);
        return true;
    }

    bool deserialize(Serialized &payload, void *data) override {
        if (payload.length < ENCAPSULATION_BYTES + bytes) return false;
        memcpy(data, payload.data + ENCAPSULATION_BYTES, bytes);
        return true;
    }

    uint32_t calculate_serialized_size(const void *, Representation) override { return max_serialized_type_size; }

    void *create_data() override { return calloc(1, bytes); }
    void delete_data(void *data) override { free(data); }
    bool compute_key(Serialized &, eprosima::fastdds::rtps::InstanceHandle_t &, bool) override { return false; }
    bool compute_key(const void *, eprosima::fastdds::rtps::InstanceHandle_t &, bool) override { return false; }
    bool is_bounded() const override { return true; }
    bool is_plain(Representation) const override { return true; }

private:
    size_t bytes;
};

class RawMessage : public MessageType {
public:
    explicit RawMessage(const perf_test_message &message) : bytes(message.bytes), last_id(message.last_id) {}

    eprosima::fastdds::dds::TopicDataType *create_support() const override { return new RawSupport(bytes); }

    size_t memory_bytes() const override { return bytes; }

    void prepare(void *message) const override { memset(message, 0, bytes); }

    Payload payload(void *message) const override {
        return {static_cast<char *>(message) + STAMP_BYTES, bytes - STAMP_BYTES};
    }

    void stamp(void *message, const perf_test_stamp &stamp) const override {
        uint64_t id = stamp.id & last_id;
        memcpy(message, &stamp.time_ns, sizeof stamp.time_ns);
        memcpy(static_cast<char *>(message) + sizeof stamp.time_ns, &id, sizeof id);
    }

    void read(const void *message, perf_test_taken *taken) const override {
        memcpy(&taken->time_ns, message, sizeof taken->time_ns);
        memcpy(&taken->id, static_cast<const char *>(message) + sizeof taken->time_ns, sizeof taken->id);
        taken->length_bytes = bytes;
    }

private:
    static constexpr size_t STAMP_BYTES = 16;
    size_t bytes;
    uint64_t last_id;
};
