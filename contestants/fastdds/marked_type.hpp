// A type that records the end of serialisation and the beginning of deserialisation (--phases). Fast DDS serialises on
// the thread that writes, and deserialises on the thread that takes.

#pragma once

#include <fastdds/dds/topic/TopicDataType.hpp>
#include <memory>

#include "perf_test_backend.h"

// The recorded times of the last message that this thread has written or taken; 0 if the message was not converted.
struct Marks {
    int64_t serialised_ns = 0;
    int64_t in_hand_ns = 0;
};
inline thread_local Marks marks;

class MarkedType : public eprosima::fastdds::dds::TopicDataType {
    using Representation = eprosima::fastdds::dds::DataRepresentationId_t;
    using Serialized = eprosima::fastdds::rtps::SerializedPayload_t;
    using Handle = eprosima::fastdds::rtps::InstanceHandle_t;

public:
    explicit MarkedType(TopicDataType *type) : inner(type) {
        max_serialized_type_size = inner->max_serialized_type_size;
        is_compute_key_provided = inner->is_compute_key_provided;
    }

    bool serialize(const void *data, Serialized &payload, Representation representation) override {
        bool is_good = inner->serialize(data, payload, representation);
        marks.serialised_ns = perf_test_now_ns();
        return is_good;
    }

    bool deserialize(Serialized &payload, void *data) override {
        marks.in_hand_ns = perf_test_now_ns();
        return inner->deserialize(payload, data);
    }

    uint32_t calculate_serialized_size(const void *data, Representation representation) override {
        return inner->calculate_serialized_size(data, representation);
    }

    void *create_data() override { return inner->create_data(); }
    void delete_data(void *data) override { inner->delete_data(data); }
    bool compute_key(Serialized &payload, Handle &handle, bool force_md5) override {
        return inner->compute_key(payload, handle, force_md5);
    }
    bool compute_key(const void *data, Handle &handle, bool force_md5) override {
        return inner->compute_key(data, handle, force_md5);
    }
    bool is_bounded() const override { return inner->is_bounded(); }
    bool is_plain(Representation representation) const override { return inner->is_plain(representation); }
    bool construct_sample(void *memory) const override { return inner->construct_sample(memory); }

private:
    std::unique_ptr<TopicDataType> inner;
};
