// Subscribes to /numbers with Foxglove's own client, and prints the number and the length of each message.
import protocol from "@foxglove/ws-protocol"; // a CommonJS module
import WebSocket from "ws";

const { FoxgloveClient } = protocol;
const [url, count] = process.argv.slice(2);
const client = new FoxgloveClient({ ws: new WebSocket(url, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]) });
let received = 0;
client.on("error", (error) => { console.error(error); process.exit(1); });
client.on("advertise", (channels) => {
  const channel = channels.find((channel) => channel.topic === "/numbers");
  if (channel) client.subscribe(channel.id);
});
client.on("message", (event) => {
  const data = event.data;
  console.log(`${data.getBigUint64(4, true)} ${data.byteLength}`);
  if (++received === Number(count)) client.close();
});
client.on("close", () => process.exit(received === Number(count) ? 0 : 1));
