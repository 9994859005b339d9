"""Reads a bag with the packages `mcap` and `rosbags`. `readers.py BAG` prints, as JSON for each package and topic, the
number of messages and the CRC-32 of all their bytes. `readers.py --unfinished FILE` does the same with `mcap` for a
file without its end."""

import json
import sys
import zlib
from pathlib import Path

from mcap.exceptions import EndOfFile
from mcap.reader import make_reader
from mcap.records import Channel, Message
from mcap.stream_reader import StreamReader
from rosbags.highlevel import AnyReader


class Topics:
    """The number of messages of each topic, and the CRC of their bytes. Messages must come in order: 0, 1, 2, ..."""

    def __init__(self) -> None:
        self.topics: dict[str, list[int]] = {}

    def add(self, topic: str, data: bytes) -> None:
        count, crc = self.topics.get(topic, (0, 0))
        number = int.from_bytes(data[4:12], "little")
        assert number == count, f"{topic}: message {number} came after {count} messages"
        self.topics[topic] = [count + 1, zlib.crc32(data, crc)]


def with_mcap(bag: Path) -> dict[str, list[int]]:
    topics = Topics()
    for path in sorted(bag.glob("*.mcap"), key=lambda path: int(path.stem.rsplit("_", 1)[1])):
        with path.open("rb") as file:
            reader = make_reader(file, validate_crcs=True)
            assert reader.get_header().profile == "ros2"
            messages = 0
            for _, channel, message in reader.iter_messages():
                topics.add(channel.topic, message.data)
                messages += 1
            assert reader.get_summary().statistics.message_count == messages
    return topics.topics


def with_rosbags(bag: Path) -> dict[str, list[int]]:
    topics = Topics()
    with AnyReader([bag]) as reader:
        assert reader.message_count == sum(topic.msgcount for topic in reader.topics.values())
        for connection, _, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            assert message.number == int.from_bytes(data[4:12], "little")
            assert connection.ext.offered_qos_profiles, connection.topic
            topics.add(connection.topic, bytes(data))
    return topics.topics


def unfinished(path: Path) -> dict[str, list[int]]:
    topics, channels = Topics(), {}
    with path.open("rb") as file:
        try:
            for record in StreamReader(file).records:
                if isinstance(record, Channel):
                    channels[record.id] = record.topic
                elif isinstance(record, Message):
                    topics.add(channels[record.channel_id], record.data)
        except EndOfFile:
            pass
    return topics.topics


if sys.argv[1] == "--unfinished":
    print(json.dumps(unfinished(Path(sys.argv[2]))))
else:
    bag = Path(sys.argv[1])
    print(json.dumps({"mcap": with_mcap(bag), "rosbags": with_rosbags(bag)}))
