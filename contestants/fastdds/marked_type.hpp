// A type that marks the end of serialisation and the beginning of deserialisation (--phases). Fast DDS does both on the
// thread that writes or takes.

#pragma once

#include <fastdds/dds/topic/TopicDataType.hpp>
#include <memory>

#include "perf_test_backend.h"

// The marks of the message that this thread has written or taken last; 0: there was nothing to convert.
struct Marks {
    int64_t serialised_ns = 0;
    int64_t in_hand_ns = 0;
};
inline thread_local Marks marks;

class MarkedType : public eprosima::fastdds::dds::TopicDataType {
    using Payload = eprosima::fastrtps::rtps::SerializedPayload_t;

public:
    explicit MarkedType(TopicDataType *type) : inner(type) {
        m_typeSize = inner->m_typeSize;
        m_isGetKeyDefined = inner->m_isGetKeyDefined;
    }

    bool serialize(void *data, Payload *payload) override {
        bool is_good = inner->serialize(data, payload);
        marks.serialised_ns = perf_test_now_ns();
        return is_good;
    }

    bool deserialize(Payload *payload, void *data) override {
        marks.in_hand_ns = perf_test_now_ns();
        return inner->deserialize(payload, data);
    }

    std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
        return inner->getSerializedSizeProvider(data);
    }

    void *createData() override { return inner->createData(); }
    void deleteData(void *data) override { inner->deleteData(data); }
    bool getKey(void *data, eprosima::fastrtps::rtps::InstanceHandle_t *handle, bool force_md5) override {
        return inner->getKey(data, handle, force_md5);
    }
    bool is_bounded() const override { return inner->is_bounded(); }
    bool is_plain() const override { return inner->is_plain(); }
    bool construct_sample(void *memory) const override { return inner->construct_sample(memory); }

private:
    std::unique_ptr<TopicDataType> inner;
};
