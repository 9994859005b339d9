// Reads the files of a bag with the package `@mcap/core`. Prints as JSON, for the indexed reader and the stream reader,
// the number of messages of each topic and the CRC-32 of all their bytes. Also prints the number of padding records in
// the files.
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { crc32 } from "@foxglove/crc";
import { open, readdir } from "node:fs/promises";
import path from "node:path";

const PADDING = 0x80;
const BLOCK_BYTES = 1 << 20;

// The number of messages of each topic, and the CRC of their bytes. Messages must come in order: 0, 1, 2, ...
class Topics {
  data = {};

  add(topic, bytes) {
    const parts = (this.data[topic] ??= []);
    const number = new DataView(bytes.buffer, bytes.byteOffset + 4, 8).getBigUint64(0, true);
    if (number !== BigInt(parts.length)) throw new Error(`${topic}: message ${number} came after ${parts.length} messages`);
    parts.push(Uint8Array.from(bytes));
  }

  result() {
    return Object.fromEntries(Object.entries(this.data).map(([topic, parts]) => [topic, [parts.length, crc32(Buffer.concat(parts))]]));
  }
}

async function readIndexed(file, topics) {
  const readable = {
    size: async () => BigInt((await file.stat()).size),
    read: async (offset, length) => {
      const bytes = new Uint8Array(Number(length));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, Number(offset));
      if (bytesRead !== bytes.length) throw new Error(`${bytesRead} of ${length} bytes at ${offset}`);
      return bytes;
    },
  };
  const reader = await McapIndexedReader.Initialize({ readable });
  let count = 0n;
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    topics.add(reader.channelsById.get(message.channelId).topic, message.data);
    count++;
  }
  if (count !== reader.statistics.messageCount) throw new Error(`${count} of ${reader.statistics.messageCount} messages`);
}

async function readStream(file, topics) {
  const [reader, channels, block] = [new McapStreamReader({ validateCrcs: true }), new Map(), new Uint8Array(BLOCK_BYTES)];
  let paddings = 0;
  for (let offset = 0; ; ) {
    const { bytesRead } = await file.read(block, 0, block.length, offset);
    if (bytesRead === 0) break;
    offset += bytesRead;
    reader.append(block.subarray(0, bytesRead));
    for (let record; (record = reader.nextRecord()); ) {
      if (record.type === "Channel") channels.set(record.id, record.topic);
      if (record.type === "Message") topics.add(channels.get(record.channelId), record.data);
      if (record.type === "Unknown" && record.opcode === PADDING) paddings++;
    }
  }
  if (!reader.done()) throw new Error("the stream has no end");
  return paddings;
}

const [bag] = process.argv.slice(2);
const number = (name) => Number(name.match(/_(\d+)\.mcap$/)[1]);
const names = (await readdir(bag)).filter((name) => name.endsWith(".mcap")).sort((one, other) => number(one) - number(other));
const [indexed, stream] = [new Topics(), new Topics()];
let paddings = 0;
for (const name of names) {
  const file = await open(path.join(bag, name));
  await readIndexed(file, indexed);
  paddings += await readStream(file, stream);
  await file.close();
}
console.log(JSON.stringify({ indexed: indexed.result(), stream: stream.result(), paddings }));
