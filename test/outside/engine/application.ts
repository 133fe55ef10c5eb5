// A server as one writes it for socket.io on Node: nothing in it knows where it runs. Served by worker.ts, and by node.ts beside it.
import type { Server, Socket } from "socket.io";

/** What happened to a socket, for clients to ask for. */
interface Facts {
  readonly transport: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly auth: unknown;
  readonly url: string;
  readonly secure: boolean;
  readonly xdomain: boolean;
}

export function register(io: Server): void {
  let visits = 0;
  /** Ends of sockets and connections, by the name that the client gave. */
  const ends = new Map<string, string[]>();
  const connectionErrors: unknown[] = [];
  const note = (name: string, what: string): void => void ends.set(name, [...(ends.get(name) ?? []), what]);

  io.engine.on("connection_error", ({ code, message, context }: { code: number; message: string; context: unknown }) =>
    connectionErrors.push({ code, message, context }),
  );
  io.engine.on("initial_headers", (headers: Record<string, string>, request: { _query: { color?: string } }) => {
    headers["X-First"] = request._query.color ?? "none";
  });
  io.engine.on("headers", (headers: Record<string, string>) => {
    headers["X-Each"] = "yes";
  });
  io.engine.on("connection", (conn: { request: { _query: object }; close(discard: boolean): void }) => {
    if ("unwanted" in conn.request._query) conn.close(true);
  });
  io.engine.use((request: { visit: number }, _response: unknown, next: () => void) => {
    request.visit = ++visits;
    next();
  });

  io.use((socket, next) => {
    if (socket.handshake.auth["token"] !== "forged") return next();
    next(Object.assign(new Error("not you"), { data: { reason: "forged" } }));
  });

  io.on("connection", (socket) => {
    const name = String(socket.handshake.query["name"] ?? "");
    socket.on("disconnect", (reason) => note(name, `socket: ${reason}`));
    socket.conn.on("close", (reason: string) => note(name, `conn: ${reason}`));
    socket.conn.on("upgrade", ({ name: transport }: { name: string }) => note(name, `upgrade: ${transport}`));
    answerQuestions(io, socket, { ends, connectionErrors });
  });

  io.of(/^\/room-\w+$/).on("connection", (socket) => {
    socket.emit("welcome", socket.nsp.name);
    socket.on("say", (text: string) => void socket.nsp.emit("said", text));
  });
}

function answerQuestions(
  io: Server,
  socket: Socket,
  { ends, connectionErrors }: { ends: ReadonlyMap<string, string[]>; connectionErrors: readonly unknown[] },
): void {
  const { handshake, conn, request } = socket;
  const packets: string[] = [];
  for (const event of ["packet", "packetCreate", "drain", "flush", "heartbeat"] as const)
    conn.on(event, (packet?: { type?: string }) => packets.push(packet?.type ? `${event} ${packet.type}` : event));

  socket.on("facts", (answer: (facts: Facts) => void) => {
    const { address, headers, query, auth, url, secure, xdomain } = handshake;
    answer({ transport: conn.transport.name, address, headers, query, auth, url, secure, xdomain });
  });
  socket.on("visit", (answer: (visit: unknown) => void) => answer((request as { visit?: number }).visit));
  socket.on("packets", (answer: (packets: string[]) => void) => answer(packets));
  socket.on("ends", (name: string, answer: (ends: readonly string[]) => void) => answer(ends.get(name) ?? []));
  socket.on("errors", (answer: (errors: readonly unknown[]) => void) => answer(connectionErrors));
  socket.on("clients", (answer: (count: number) => void) => answer(io.engine.clientsCount));

  socket.on("echo", (...args: unknown[]) => {
    const answer = args.pop() as (...args: unknown[]) => void;
    answer(...args);
  });
  socket.on("isBuffer", (bytes: unknown, answer: (is: boolean) => void) => answer(Buffer.isBuffer(bytes)));
  socket.on("join", async (room: string, answer: () => void) => {
    await socket.join(room);
    answer();
  });
  socket.on("keep", (data: unknown, answer: () => void) => {
    socket.data = data;
    answer();
  });
  socket.on("state", (answer: (state: unknown) => void) =>
    answer({ recovered: socket.recovered, rooms: [...socket.rooms], data: socket.data as unknown }),
  );
  socket.on("to", (room: string, ...args: unknown[]) => void socket.to(room).emit("came", ...args));
  socket.on("to all in", (room: string, ...args: unknown[]) => void io.to(room).emit("came", ...args));
  socket.on("all", (...args: unknown[]) => void io.emit("came", ...args));
  socket.on("many", (count: number) => {
    for (let at = 0; at < count; at++) socket.emit("came", at);
  });
  socket.on("document", (length: number) => void socket.emit("came", "x".repeat(length)));
  socket.on("volatile", (count: number) => {
    for (let at = 0; at < count; at++) socket.volatile.emit("came", at);
    socket.emit("over");
  });
  socket.on("sockets", async (answer: (ids: string[]) => void) =>
    answer((await io.fetchSockets()).map(({ id }) => id)),
  );
  socket.on("ask", async (room: string, what: string, answer: (answers: unknown) => void) =>
    answer(await io.timeout(5000).to(room).emitWithAck("question", what)),
  );
  socket.on("wait for me", (answer: (error: string) => void) => {
    socket.timeout(50).emit("never answered", (error: Error | null) => answer(error?.message ?? "answered"));
  });
  socket.on("leave me", (how: string) => {
    socket.emit("last words");
    if (how === "socket.disconnect()") socket.disconnect();
    else if (how === "socket.disconnect(true)") socket.disconnect(true);
    else if (how === "conn.close()") conn.close();
    else io.disconnectSockets(true);
  });
  socket.on("close server", () => void io.close());
  socket.on("throw", () => {
    throw new Error("thrown by a handler");
  });
  const late = (): never => {
    throw new Error("thrown by a timer");
  };
  socket.on("throw later", () => void setTimeout(late, 1));
  socket.on("reject", async () => {
    await Promise.resolve();
    throw new Error("rejected by a handler");
  });
}
