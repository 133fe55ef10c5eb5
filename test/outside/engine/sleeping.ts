// A server that knows nothing of sleep: greets who comes, takes everybody for new, and keeps what it learns in `socket.data`, in properties of
// its sockets, and in rooms. Served by worker.ts in an object that sleeps.
import type { Server, Socket } from "socket.io";

declare module "socket.io" {
  interface Socket {
    username?: string;
    cart?: string[];
  }
}

export async function register(io: Server, instance: string): Promise<void> {
  // As one that loads something first.
  await new Promise((resolve) => void setTimeout(resolve, 50));
  let users = 0;
  const handle = async (socket: Socket): Promise<void> => {
    users++;
    socket.data = { score: 0, seen: new Set<string>() };
    void socket.join("lobby");
    socket.emit("welcome", { users });
    socket.broadcast.emit("joined", { users });
    socket.on("login", async (name: string, answer: () => void) => {
      await new Promise((resolve) => void setTimeout(resolve, 100));
      socket.username = name;
      await new Promise((resolve) => void setTimeout(resolve, 100));
      (socket.data as { score: number }).score++;
      answer();
    });
    socket.on("say", (room: string, ...texts: string[]) => {
      for (const text of texts) socket.nsp.to(room).emit("said", socket.username, text);
    });
    // As one that loads something for each client.
    await new Promise((resolve) => void setTimeout(resolve, 20));
    socket.on("state", (answer: (state: unknown) => void) =>
      answer({
        instance,
        recovered: socket.recovered,
        rooms: [...socket.rooms].filter((room) => room !== socket.id),
        username: socket.username,
        score: (socket.data as { score: number }).score,
        auth: socket.handshake.auth,
        issued: socket.handshake.issued,
        header: socket.handshake.headers["x-own"],
        visit: (socket.request as { visit?: number }).visit,
        users,
        clients: io.engine.clientsCount,
      }),
    );
    socket.on("disconnect", (reason) => void socket.broadcast.emit("left", socket.username, reason));
  };
  let visits = 0;
  io.engine.use((request: { visit: number }, _response: unknown, next: () => void) => {
    request.visit = ++visits;
    next();
  });
  io.use((socket, next) => {
    socket.username = `guest ${String(socket.handshake.auth["name"])}`;
    next();
  });
  io.on("connection", handle);
  io.of("/second").on("connection", handle);
}
