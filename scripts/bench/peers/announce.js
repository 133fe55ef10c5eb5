// Announces to many rooms, or to people wherever they are, as in Socket.IO's manual: each person is in a room of their own.
//   POST /announce {rooms | users, event, data}
import { json } from "node:stream/consumers";

export function serveAnnouncements(io, http) {
  io.on("connection", (socket) => socket.join(`user:${socket.handshake.query.user}`));
  http.on("request", async (request, response) => {
    // The engine answers its own requests.
    if (request.url !== "/announce") return;
    const { rooms, users, event, data } = await json(request);
    io.to(rooms ?? users.map((user) => `user:${user}`)).emit(event, data);
    response.writeHead(202).end("{}");
  });
}
