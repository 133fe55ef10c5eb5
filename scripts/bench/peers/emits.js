// Emits to an empty room: in memory, or through a Redis. Starts at the first byte on standard input and prints
// how long it took.
//   node emits.js COUNT CHARS [redis://…]
import { createServer } from "node:http";
import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";

import { createAdapter } from "@socket.io/redis-adapter";
import { createClient } from "redis";
import { Server } from "socket.io";

const FLUSH_EVERY = 1000;
const [count, chars] = process.argv.slice(2, 4).map(Number);
const redisUrl = process.argv[4];
const text = "x".repeat(chars);
let publisher;
const io = new Server(createServer());
if (redisUrl) {
  publisher = createClient({ url: redisUrl });
  const subscriber = publisher.duplicate();
  await Promise.all([publisher.connect(), subscriber.connect()]);
  io.adapter(createAdapter(publisher, subscriber));
}
console.log("listening 0");
await once(process.stdin, "data");
const startedMs = performance.now();
for (let i = 1; i <= count; i++) {
  io.to("nobody").emit("message", text);
  // In one loop the adapter's queue only grows: with a Redis it then never comes to its end.
  if (i % FLUSH_EVERY === 0) await (publisher ? publisher.ping() : turn());
}
console.log(`emitted in ${(performance.now() - startedMs) / 1000} s`);
// The measuring program reads its usage while it is still there, and ends it.
setInterval(() => {}, 60_000);
