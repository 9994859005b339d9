// The setting `transport`: the way of messages, and what it needs of participants and endpoints.

#pragma once

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>

#include "perf_test_backend.h"

enum class Transport { LIBRARY_DEFAULT, UDP, SHARED_MEMORY, LARGE_DATA, DATA_SHARING, INTRA_PROCESS };

constexpr const char *TRANSPORT_NAMES[] = {"default",      "udp",           "shm",  "large-data",
                                           "data-sharing", "intra-process", nullptr};

// False: there is no transport of this name.
bool parse_transport(const char *name, Transport *transport);

// Whether the library shares data of bounded size and delivers directly within a process, as it does by default.
bool chooses_data_sharing(Transport transport);

// The setting of the whole library, and the transports of a participant.
void configure(Transport transport, const perf_test_run &run, eprosima::fastdds::dds::DomainParticipantQos &qos);

// The data sharing of an endpoint.
void configure(Transport transport, eprosima::fastdds::dds::DataSharingQosPolicy &data_sharing);

// The transport in effect, read back from the library.
const char *transport_in_effect(const eprosima::fastdds::dds::DomainParticipantQos &participant,
                                const eprosima::fastdds::dds::DataWriterQos &writer);
