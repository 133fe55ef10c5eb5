// Bare WebSockets on Node, without any protocol: the least that a broadcast of the same message can cost there. Each
// message is encoded once, as a frame too. Prints its port when it listens.
import { createServer } from "node:http";

import { Sender, WebSocketServer } from "ws";

const rooms = new Map();
const http = createServer();
const server = new WebSocketServer({ server: http, perMessageDeflate: false, clientTracking: false });
server.on("connection", (socket, request) => {
  const query = new URL(request.url, "http://room").searchParams;
  const name = query.get("room");
  const user = query.get("user");
  const room = rooms.get(name) ?? { lastSeq: 0, sockets: new Set() };
  rooms.set(name, room);
  room.sockets.add(socket);
  socket.on("close", () => room.sockets.delete(socket));
  socket.on("message", (data) => {
    const [, post, content] = JSON.parse(data);
    const seq = ++room.lastSeq;
    const id = `3f0c52a1b7e94d6c8a05-${seq}`;
    const timestamp = Date.now();
    const message = { id, seq, room: name, sender: user, name: user, content, timestamp };
    broadcast(room, JSON.stringify(["chat-message", message]));
    socket.send(JSON.stringify(["ack", post, { ok: true, id, seq, timestamp }]));
  });
});
http.listen({ host: "127.0.0.1", port: 0, backlog: 4096 }, () => console.log(`listening ${http.address().port}`));

function broadcast({ sockets }, text) {
  const frame = Sender.frame(Buffer.from(text), { fin: true, rsv1: false, mask: false, opcode: 1, readOnly: false });
  for (const socket of sockets) socket._sender.sendFrame(frame);
}
