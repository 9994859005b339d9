"""Endpoints of eCAL with the configuration of a run; perf_test_ecal calls these functions before the first message."""

import ecal.nanobind_core as ecal

# The time that a RELIABLE publisher waits for each subscription to process a message.
ACKNOWLEDGE_TIMEOUT_MS = 1000


def initialize(name):
    # Time synchronisation is off: the wheel has no module for it, and all clocks belong to this host.
    ecal.initialize(name, ecal.init.PUBLISHER | ecal.init.SUBSCRIBER | ecal.init.LOGGING)


def finalize():
    ecal.finalize()


def publisher(topic, type_name, zero_copy_mode, is_reliable):
    configuration = ecal.get_publisher_configuration()
    layer = configuration.layer
    layer.shm.enable, layer.udp.enable, layer.tcp.enable = True, False, False
    layer.shm.zero_copy_mode = zero_copy_mode
    layer.shm.acknowledge_timeout_ms = ACKNOWLEDGE_TIMEOUT_MS if is_reliable else 0
    return ecal.Publisher(topic, ecal.DataTypeInformation(name=type_name), configuration)


def publisher_id(publisher):
    return publisher.get_topic_id().topic_id.entity_id


def subscriber(topic, type_name):
    configuration = ecal.get_subscriber_configuration()
    layer = configuration.layer
    layer.shm.enable, layer.udp.enable, layer.tcp.enable = True, False, False
    return ecal.Subscriber(topic, ecal.DataTypeInformation(name=type_name), configuration)


def ignore(publisher, data_type, data):
    """The callback of a subscription that has stopped."""
