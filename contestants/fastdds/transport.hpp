// The setting `transport`: how messages travel, and the QoS of participants and endpoints for it.

#pragma once

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>

#include "perf_test_backend.h"

enum class Transport { LIBRARY_DEFAULT, UDP, SHARED_MEMORY, LARGE_DATA, DATA_SHARING, INTRA_PROCESS };

constexpr const char *TRANSPORT_NAMES[] = {"default",      "udp",           "shm",  "large-data",
                                           "data-sharing", "intra-process", nullptr};

// Returns false if no transport has this name.
bool parse_transport(const char *name, Transport *transport);

// True if the library itself chooses, as by default: data sharing for types of bounded size, and direct delivery within
// a process.
bool chooses_data_sharing(Transport transport);

// Configures the library's setting of delivery within a process, and the transports of a participant.
void configure(Transport transport, const perf_test_run &run, eprosima::fastdds::dds::DomainParticipantQos &qos);

// Configures the data sharing of an endpoint.
void configure(Transport transport, eprosima::fastdds::dds::DataSharingQosPolicy &data_sharing);

// The transport in effect, read back from the library.
const char *transport_in_effect(const eprosima::fastdds::dds::DomainParticipantQos &participant,
                                const eprosima::fastdds::dds::DataWriterQos &writer);
