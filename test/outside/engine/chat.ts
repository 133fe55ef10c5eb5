// A chat for members in other languages (../clients), as one writes it for socket.io on Node. Served by worker.ts.
import type { Server } from "socket.io";

export function register(io: Server, room: string): void {
  let seq = 0;
  io.on("connection", (socket) => {
    const sender: unknown = socket.handshake.auth["token"];
    socket.emit("welcome", { user: sender, room, lastSeq: seq });
    socket.on("chat-message", ({ content }: { content: string }, answer: (answer: object) => void) => {
      const id = `message ${++seq}`;
      io.emit("chat-message", { id, seq, room, sender, content });
      answer({ ok: true, id, seq });
    });
  });
}
