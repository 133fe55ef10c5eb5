// Socket.IO on Node: one process, or several that share a Redis. Prints its port when it listens.
//   node socketio.js [--recovery] [--announces] [redis://…]
import { createServer } from "node:http";

import { createAdapter } from "@socket.io/redis-adapter";
import { createClient } from "redis";
import { Server } from "socket.io";

import { serveAnnouncements } from "./announce.js";
import { serveRoom } from "./room.js";

const redisUrl = process.argv.find((argument) => argument.startsWith("redis:"));
const http = createServer();
const io = new Server(http, {
  transports: ["websocket"],
  serveClient: false,
  perMessageDeflate: false,
  httpCompression: false,
  pingInterval: 45_000,
  pingTimeout: 30_000,
  ...(process.argv.includes("--recovery") && { connectionStateRecovery: { maxDisconnectionDuration: 120_000 } }),
  ...(redisUrl && { adapter: await redisAdapter(redisUrl) }),
});
serveRoom(io);
if (process.argv.includes("--announces")) serveAnnouncements(io, http);
http.listen({ host: "127.0.0.1", port: 0, backlog: 4096 }, () => console.log(`listening ${http.address().port}`));

async function redisAdapter(url) {
  const publisher = createClient({ url });
  const subscriber = publisher.duplicate();
  await Promise.all([publisher.connect(), subscriber.connect()]);
  return createAdapter(publisher, subscriber);
}
