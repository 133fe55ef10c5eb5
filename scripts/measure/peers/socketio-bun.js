// Socket.IO on Bun, with Socket.IO's own engine for it. Prints its port when it listens.
//   bun socketio-bun.js [--recovery]
import { Server as Engine } from "@socket.io/bun-engine";
import { Server } from "socket.io";

import { serveRoom } from "./room.js";

const io = new Server(
  process.argv.includes("--recovery") ? { connectionStateRecovery: { maxDisconnectionDuration: 120_000 } } : {},
);
const engine = new Engine({ path: "/socket.io/", pingInterval: 45_000, pingTimeout: 30_000 });
io.bind(engine);
serveRoom(io);
const server = Bun.serve({ ...engine.handler(), hostname: "127.0.0.1", port: 0 });
console.log(`listening ${server.port}`);
