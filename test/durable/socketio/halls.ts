// A third-party application of many namespaces in one object, each with a recovery log of its own in the same
// database: one named in the table, one beside it, and as many as clients ask for. Whoever is banned stays out.
import { SocketObject } from "../../../durable/socketio/socket-object.ts";
import { SqlRecoveryLog } from "../../../durable/socketio/sql-recovery-log.ts";
import {
  Namespace,
  type ConnectRequest,
  type Handlers,
  type AuthorizeResult,
} from "../../../src/socketio/server/namespace.ts";
import type { RecoveryLog } from "../../../src/socketio/recovery/recovery.ts";
import { Server } from "../../../src/socketio/server/server.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";

export const WINDOW_MS = 60_000;
const OPTIONS = {
  pingIntervalMs: 45_000,
  pingTimeoutMs: 30_000,
  connectTimeoutMs: 10_000,
  maxPayloadBytes: 65_536,
  maxConnectionsPerIp: 0,
  transports: ["websocket", "polling"] as const,
};

interface Guest {
  readonly user: string;
  readonly said: string[];
}
interface Incoming {
  say: (text: string, ack: (lastWords: readonly string[]) => void) => void;
  join: (channel: string, ack: (rooms: readonly string[]) => void) => void;
  ban: (user: string, seconds: number, ack: () => void) => void;
}
interface Outgoing {
  said: (user: string, text: string) => void;
}
type Client = Socket<Outgoing, Guest>;

class Hall extends Namespace<Incoming, Outgoing, Guest> {
  override readonly authenticate = "anybody";
  override readonly recovery: { log: RecoveryLog; windowMs: number };
  readonly #bans: SyncKvStorage;
  readonly handlers: Handlers<Incoming, Client> = {
    say: ({ data }, text, ack) => {
      data.said.push(text);
      this.emit("said", data.user, text);
      ack(data.said);
    },
    join: (socket, channel, ack) => {
      socket.join(channel);
      ack([...socket.rooms].slice(1));
    },
    ban: (_socket, user, seconds, ack) => {
      this.#bans.put(`ban:${user}`, this.context.now() + seconds * 1000);
      for (const socket of this.fetchSockets()) if (socket.peek().user === user) socket.disconnect(true);
      ack();
    },
  };

  constructor(log: RecoveryLog, bans: SyncKvStorage) {
    super();
    this.recovery = { log, windowMs: WINDOW_MS };
    this.#bans = bans;
  }

  override authorize({ auth }: ConnectRequest): AuthorizeResult<Guest> {
    const user = String(auth["user"]);
    const bannedUntilMs = this.#bans.get<number>(`ban:${user}`) ?? 0;
    if (bannedUntilMs > this.context.now()) {
      return { accepted: false, message: "You are banned", data: { code: "BANNED" } };
    }
    return { accepted: true, data: { user, said: [] } };
  }

  override ownerOf({ user }: Guest): string {
    return user;
  }
}

export class Halls extends SocketObject<object> {
  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env, ({ storage }, _env, ports) => {
      const newName = (): string => crypto.randomUUID().replaceAll("-", "");
      const hall = (name?: string): Hall => {
        const options = { windowMs: WINDOW_MS, now: () => ports.now(), newName, ...(name !== undefined && { name }) };
        return new Hall(new SqlRecoveryLog(storage, options), storage.kv);
      };
      const table = {
        static: { "/": hall(), "/lobby": hall("/lobby") },
        dynamic: [
          { match: /^\/hall-\w+$/, create: hall },
          { match: async ({ nsp }: ConnectRequest) => nsp.startsWith("/Hall-"), create: hall },
        ],
      };
      return { server: new Server(OPTIONS, table, ports), limits: OPTIONS };
    });
  }
}
