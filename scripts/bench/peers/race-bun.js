// Typing races by Socket.IO on Bun, with Socket.IO's own engine for it. Prints its port when it listens.
//   bun race-bun.js --rules DIR --wait MS --tick MS
import { Server as Engine } from "@socket.io/bun-engine";
import { Server } from "socket.io";

import { matchmake, serveRaces } from "./race-rooms.js";

const io = new Server();
const engine = new Engine({ path: "/socket.io/", pingInterval: 25_000, pingTimeout: 20_000 });
io.bind(engine);
serveRaces(io);
const handler = engine.handler();
const server = Bun.serve({
  ...handler,
  fetch: (request, server) =>
    new URL(request.url).pathname === "/api/matchmake" ? Response.json(matchmake()) : handler.fetch(request, server),
  hostname: "127.0.0.1",
  port: 0,
});
console.log(`listening ${server.port}`);
