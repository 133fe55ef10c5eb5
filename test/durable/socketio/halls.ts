// A third-party application: one object (its tests say: a house) with many namespaces (halls), each with a recovery log of its own in the
// same database: `/`, `/lobby`, and as many `/hall-…` and `/Hall-…` as clients ask for. Banned users stay out. Served by worker.ts for
// halls.test.ts.
import {
  connectionStateRecovery,
  Namespace,
  SocketIoObject,
  type AuthorizeResult,
  type ConnectRequest,
  type DynamicNamespace,
  type Handlers,
  type Socket,
} from "parley-rooms/socketio";

export const WINDOW_MS = 60_000;

/** `socket.data` of a visitor. */
interface SocketData {
  readonly user: string;
  readonly said: string[];
}
interface Incoming {
  say: (text: string, ack: (lastWords: readonly string[]) => void) => void;
  join: (channel: string, ack: (rooms: readonly string[]) => void) => void;
  ban: (user: string, seconds: number, ack: () => void) => void;
  /** Goes on when anybody in the house says `go on`. */
  work: () => void;
  "go on": (ack: () => void) => void;
}
interface Outgoing {
  said: (user: string, text: string) => void;
}
type Client = Socket<Outgoing, SocketData>;

/** The handlers that wait, of all houses: a test has one house. */
const waiting: Array<() => Promise<void>> = [];

class Hall extends Namespace<Incoming, Outgoing, SocketData> {
  readonly #bans: SyncKvStorage;
  readonly handlers: Handlers<Incoming, Client> = {
    say: ({ data }, text, ack) => {
      data.said.push(text);
      this.emit("said", data.user, text);
      ack?.(data.said);
    },
    join: (socket, channel, ack) => {
      socket.join(channel);
      ack?.([...socket.rooms].slice(1));
    },
    work: async (socket) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = Promise.withResolvers<void>();
      waiting.push(() => (resolve(), done.promise));
      await promise;
      socket.emit("said", "server", "to one");
      socket.broadcast.emit("said", "server", "to others");
      done.resolve();
    },
    "go on": async (_socket, ack) => {
      for (const goOn of waiting.splice(0)) await goOn();
      ack?.();
    },
    ban: (_socket, user, seconds, ack) => {
      this.#bans.put(`ban:${user}`, Date.now() + seconds * 1000);
      for (const socket of this.fetchSockets()) if (socket.peek().user === user) socket.disconnect(true);
      ack?.();
    },
  };

  constructor(bans: SyncKvStorage) {
    super();
    this.#bans = bans;
  }

  override authorize({ auth }: ConnectRequest): AuthorizeResult<SocketData> {
    const user = String(auth["user"]);
    const bannedUntilMs = this.#bans.get<number>(`ban:${user}`) ?? 0;
    if (bannedUntilMs > Date.now()) {
      return { accepted: false, message: "You are banned", data: { code: "BANNED" } };
    }
    return { accepted: true, data: { user, said: [] } };
  }

  override ownerOf({ user }: SocketData): string {
    return user;
  }
}

export class Halls extends SocketIoObject {
  readonly namespaces = { "/": this.#hall(), "/lobby": this.#hall() };
  override readonly recovery = connectionStateRecovery({ maxDisconnectionDuration: WINDOW_MS });
  override readonly dynamicNamespaces: readonly DynamicNamespace[] = [
    { match: /^\/hall-\w+$/, create: () => this.#hall() },
    { match: async ({ nsp }) => nsp.startsWith("/Hall-"), create: () => this.#hall() },
  ];

  async wipe(): Promise<void> {
    await this.erase();
  }

  #hall(): Hall {
    return new Hall(this.ctx.storage.kv);
  }
}
