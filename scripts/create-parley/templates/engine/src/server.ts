// The server, as it is on Node: put yours in the place of this one. What it has at the top of the file goes into the function, because all objects
// of a Worker share the module.
import type { Server } from "socket.io";

export function register(io: Server): void {
  let people = 0;

  io.use((socket, next) => {
    const { name } = socket.handshake.auth;
    if (typeof name !== "string" || name === "") return next(new Error("a name, please"));
    socket.data.name = name;
    next();
  });

  io.on("connection", (socket) => {
    people++;
    io.emit("people", people);

    socket.on("say", (text: unknown, ack?: (answer: { ok: boolean }) => void) => {
      const ok = typeof text === "string" && text !== "";
      if (ok) socket.broadcast.emit("said", socket.data.name, text);
      ack?.({ ok });
    });

    socket.on("disconnect", () => {
      people--;
      io.emit("people", people);
    });
  });
}
