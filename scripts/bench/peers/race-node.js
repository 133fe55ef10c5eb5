// Typing races by Socket.IO on Node. Prints its port when it listens.
//   node race-node.js --rules DIR --wait MS --tick MS
import { createServer } from "node:http";

import { Server } from "socket.io";

import { matchmake, serveRaces } from "./race-rooms.js";

const http = createServer();
const io = new Server(http, {
  transports: ["websocket"],
  serveClient: false,
  perMessageDeflate: false,
  httpCompression: false,
});
serveRaces(io);
http.on("request", (request, response) => {
  // The engine answers its own requests.
  if (request.url !== "/api/matchmake") return;
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(matchmake()));
});
http.listen({ host: "127.0.0.1", port: 0, backlog: 4096 }, () => console.log(`listening ${http.address().port}`));
