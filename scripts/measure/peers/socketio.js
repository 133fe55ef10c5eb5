// Socket.IO on Node. Prints its port when it listens.
//   node socketio.js [--recovery]
import { createServer } from "node:http";

import { Server } from "socket.io";

import { serveRoom } from "./room.js";

const http = createServer();
const io = new Server(http, {
  transports: ["websocket"],
  serveClient: false,
  perMessageDeflate: false,
  httpCompression: false,
  pingInterval: 45_000,
  pingTimeout: 30_000,
  ...(process.argv.includes("--recovery") && { connectionStateRecovery: { maxDisconnectionDuration: 120_000 } }),
});
serveRoom(io);
http.listen({ host: "127.0.0.1", port: 0, backlog: 4096 }, () => console.log(`listening ${http.address().port}`));
