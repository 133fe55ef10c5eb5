// The job that every Socket.IO peer does: join the room that the query names, number each message, give it to all and
// acknowledge it. The same fields as this project's messages; nothing is stored.
export function serveRoom(io) {
  const lastSeqs = new Map();
  io.on("connection", (socket) => {
    const { room = "global", user = "nobody" } = socket.handshake.query;
    // As the manual advises for memory; the query is read by now.
    socket.conn.request = null;
    socket.join(room);
    socket.on("chat-message", ({ content }, ack) => {
      const seq = (lastSeqs.get(room) ?? 0) + 1;
      lastSeqs.set(room, seq);
      const id = `3f0c52a1b7e94d6c8a05-${seq}`;
      const timestamp = Date.now();
      io.to(room).emit("chat-message", { id, seq, room, sender: user, name: user, content, timestamp });
      ack?.({ ok: true, id, seq, timestamp });
    });
  });
}
