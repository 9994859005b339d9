// The type of Fast DDS for a class that fastddsgen has generated: it creates, serialises and deserialises messages.

#pragma once

#include <fastcdr/Cdr.h>
#include <fastcdr/exceptions/Exception.h>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <new>

#include "message_type.hpp"

template <class T> class GeneratedSupport : public eprosima::fastdds::dds::TopicDataType {
    using Representation = eprosima::fastdds::dds::DataRepresentationId_t;
    using Serialized = eprosima::fastdds::rtps::SerializedPayload_t;
    using Cdr = eprosima::fastcdr::Cdr;

public:
    // `is_of_fixed_size`: a message has neither sequences nor strings.
    GeneratedSupport(bool is_of_fixed_size, bool is_bounded_type) : has_bound(is_bounded_type) {
        size_t bytes = T::getMaxCdrSerializedSize();
        // A type is plain if the fields have the same offsets in memory and in a serialised message.
        is_plain_type = is_of_fixed_size && bytes + Cdr::alignment(bytes, alignof(T)) == sizeof(T);
        bytes += Cdr::alignment(bytes, SUBMESSAGE_ALIGNMENT);
        max_serialized_type_size = static_cast<uint32_t>(ENCAPSULATION_BYTES + bytes);
    }

    bool serialize(const void *data, Serialized &payload, Representation) override {
        eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(payload.data), payload.max_size);
        Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, VERSION);
        payload.encapsulation = DEFAULT_ENCAPSULATION;
        try {
            cdr.serialize_encapsulation();
            static_cast<const T *>(data)->serialize(cdr);
        } catch (const eprosima::fastcdr::exception::Exception &) {
            return false;
        }
        payload.length = static_cast<uint32_t>(cdr.get_serialized_data_length());
        return true;
    }

    bool deserialize(Serialized &payload, void *data) override {
        eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(payload.data), payload.length);
        Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, VERSION);
        try {
            cdr.read_encapsulation();
            static_cast<T *>(data)->deserialize(cdr);
        } catch (const eprosima::fastcdr::exception::Exception &) {
            return false;
        }
        payload.encapsulation = cdr.endianness() == Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
        return true;
    }

    uint32_t calculate_serialized_size(const void *data, Representation) override {
        return static_cast<uint32_t>(ENCAPSULATION_BYTES + T::getCdrSerializedSize(*static_cast<const T *>(data)));
    }

    void *create_data() override { return new T(); }
    void delete_data(void *data) override { delete static_cast<T *>(data); }
    bool compute_key(Serialized &, eprosima::fastdds::rtps::InstanceHandle_t &, bool) override { return false; }
    bool compute_key(const void *, eprosima::fastdds::rtps::InstanceHandle_t &, bool) override { return false; }
    bool is_bounded() const override { return has_bound; }
    bool is_plain(Representation) const override { return is_plain_type; }
    bool construct_sample(void *memory) const override { return new (memory) T(), true; }

private:
    static constexpr size_t SUBMESSAGE_ALIGNMENT = 4;
    static constexpr eprosima::fastcdr::CdrVersion VERSION = eprosima::fastcdr::CdrVersion::XCDRv1;

    bool has_bound;
    bool is_plain_type;
};
