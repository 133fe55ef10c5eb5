// The Worker of a stock server: its clients name the object in `?room=` or in the path.
import { Server, type Socket } from "socket.io";
import { ClusterAdapter } from "socket.io-adapter";

import { connect, EngineObject, siblings } from "parley-rooms/engine";

import unchanged, { type App as Unchanged } from "../../../docs/examples/unchanged/index.ts";
import { register } from "./application.ts";
import { register as registerChat } from "./chat.ts";
import { register as registerSleeping } from "./sleeping.ts";

export { App as Unchanged } from "../../../docs/examples/unchanged/index.ts";

interface Env {
  readonly APP: DurableObjectNamespace<App>;
  readonly STRICT: DurableObjectNamespace<Strict>;
  readonly RECOVERING: DurableObjectNamespace<Recovering>;
  readonly UNCHANGED: DurableObjectNamespace<Unchanged>;
  readonly SHARD: DurableObjectNamespace<Shard>;
  readonly LIMITED: DurableObjectNamespace<Limited>;
  readonly FAILING: DurableObjectNamespace<Failing>;
  readonly CHAT: DurableObjectNamespace<Chat>;
  readonly SLEEPING: DurableObjectNamespace<Sleeping>;
}

export class App extends EngineObject<Env> {
  io: Server = this.serve(
    Server,
    { pingInterval: 1000, pingTimeout: 5000, cors: { origin: "https://page.example" } },
    (io: Server) => {
      register(io);
      tellStored(io, this.ctx.storage);
    },
  );
}

/** Tells clients what the object has stored. */
function tellStored(io: Server, { sql, kv }: DurableObjectStorage): void {
  const tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";
  io.on("connection", (socket) => {
    socket.on("stored", (answer: (names: unknown[]) => void) =>
      answer([
        ...sql
          .exec(tables)
          .toArray()
          .map(({ name }) => name),
        ...[...kv.list()].map(([key]) => key),
      ]),
    );
  });
}

/** One that decides about requests. */
export class Strict extends EngineObject<Env> {
  io: Server = this.serve(
    Server,
    {
      path: "/custom",
      transports: ["polling"],
      maxHttpBufferSize: 1000,
      // For the client who shall be too late.
      connectTimeout: this.ctx.id.name === "cat" ? 4000 : 45_000,
      cookie: { name: "sticky", maxAge: 60 },
      allowRequest: ({ headers }, decide) =>
        decide(headers["x-guest"] === "bad" ? "no guests" : null, headers["x-guest"] !== "bad"),
    },
    async (io: Server) => {
      await Promise.resolve();
      io.engine.generateId = async ({ headers }) => `id of ${String(headers["x-guest"])}`;
      register(io);
    },
  );
}

/** One whose clients recover, also after a crash, may make one, and may have bundles. */
export class Recovering extends EngineObject<Env> {
  io: Server = this.serve(
    Server,
    { connectionStateRecovery: {} },
    (io: Server) => {
      register(io);
      tellStored(io, this.ctx.storage);
      io.on("connection", (socket) => socket.on("die", () => this.ctx.abort("asked to die")));
    },
    { bundles: true },
  );
}

/** Three that are one server, whose clients recover, with one that fails: it has no siblings. */
export class Shard extends EngineObject<Env> {
  io: Server = this.serve(
    Server,
    { connectionStateRecovery: {} },
    (io: Server) => {
      register(io);
      io.on("connection", (socket) => {
        type Call = (...args: unknown[]) => unknown;
        socket.on("call", async (method: string, args: unknown[], answer: (result: unknown) => void) =>
          answer(await (io as unknown as Record<string, Call>)[method]!(...args)),
        );
      });
      io.on("who", (answer: (name: string) => void) => answer(this.ctx.id.name!));
    },
    {
      siblings: siblings(ClusterAdapter, () => [
        ...["one", "two", "three"].map((name) => this.env.SHARD.getByName(name)),
        ...(this.ctx.id.name === "one" ? [this.env.STRICT.getByName("no sibling")] : []),
      ]),
    },
  );
}

/** One with low limits, and an interval that outlives its clients. */
export class Limited extends EngineObject<Env> {
  io: Server = this.serve(
    Server,
    {},
    (io: Server) => {
      register(io);
      io.on("connection", (socket) => socket.on("interval", () => void setInterval(() => {}, 100)));
    },
    { maxConnectionsPerIp: 3, maxUnjoinedPerIp: 20, maxPackets: 50 },
  );
}

/** One that sleeps while clients are connected. */
export class Sleeping extends EngineObject<Env> {
  io: Server = this.serve(
    Server,
    { connectionStateRecovery: {} },
    (io: Server) => {
      io.on("connection", (socket) => socket.on("erase", () => void this.erase()));
      return registerSleeping(io, crypto.randomUUID());
    },
    { sleep: true },
  );
}

/** One for members in other languages, who have rooms `members-…`. */
export class Chat extends EngineObject<Env> {
  io: Server = this.serve(Server, { pingInterval: 2000, pingTimeout: 5000 }, (io: Server) =>
    registerChat(io, this.ctx.id.name!),
  );
}

/** One whose code fails at the place that `?fail=` of a client names. */
export class Failing extends EngineObject<Env> {
  io: Server = this.serve(Server, {}, (io: Server) => {
    io.engine.on("connection", ({ request }: { request: { url: string } }) =>
      failAt("connection of the engine", request),
    );
    io.use((socket, next) => (failAt("middleware", socket.handshake), next()));
    const later = async (socket: Socket, next: () => void): Promise<void> => {
      await Promise.resolve();
      failAt("asynchronous middleware", socket.handshake);
      next();
    };
    io.use((socket, next) => void later(socket, next));
    io.on("connection", (socket) => {
      socket.conn.on("packet", () => failAt("packet", socket.handshake));
      socket.on("disconnect", () => failAt("disconnect", socket.handshake));
      socket.on("echo", (what: unknown, answer: (what: unknown) => void) => answer(what));
      failAt("connection", socket.handshake);
    });
  });
}

function failAt(place: string, { url }: { url: string }): void {
  if (new URL(url, "http://x").searchParams.get("fail") === place) throw new Error(`failed in ${place}`);
}

/** Where the objects of the other classes are. */
const PATHS: Readonly<
  Record<string, { binding: Exclude<keyof Env, "APP" | "UNCHANGED" | "CHAT">; serverPath?: string }>
> = {
  "/strict": { binding: "STRICT", serverPath: "/custom" },
  "/recovering": { binding: "RECOVERING" },
  "/shards": { binding: "SHARD" },
  "/limited": { binding: "LIMITED" },
  "/failing": { binding: "FAILING" },
  "/sleeping": { binding: "SLEEPING" },
};

export default {
  fetch(request: Request<unknown, IncomingRequestCfProperties>, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    // The example of docs/stock-socket-io.md serves the root, too.
    if (searchParams.has("unchanged")) return unchanged.fetch(request, { APP: env.UNCHANGED });
    const path = /^\/\w+/.exec(pathname)?.[0] ?? "";
    const { binding = "APP", serverPath } = PATHS[path] ?? {};
    const object = (room: string) => (room.startsWith("members-") ? env.CHAT : env[binding]).getByName(room);
    return connect(request, { object, serverPath, ...(binding !== "APP" && { path }) });
  },
};
