// A server for Node, as it stood between `new Server` and `listen`.
import type { Server } from "socket.io";

export function register(io: Server) {
  io.on("connection", (socket) => {
    socket.on("draw", (line) => socket.broadcast.emit("draw", line));
  });
}
