// The base class of Durable Objects that serve Socket.IO: `parley-rooms/socketio` exports it. A subclass names its namespaces; the Worker
// passes connections to it by `connect` (src/worker/connect/connect.ts).
import type { Namespace } from "../../src/socketio/server/namespace.ts";
import type { DynamicNamespace } from "../../src/socketio/server/namespaces.ts";
import { Server } from "../../src/socketio/server/server.ts";
import type { ServerSideRpc } from "../../src/rpc/server-side.ts";
import type { Application, ObjectPorts } from "./application.ts";
import { LOG_NAME_CHARS_MAX } from "./named-logs.ts";
import { newId } from "./new-id.ts";
import { readOptions, type GivenOptions, type SocketIoOptions } from "./options.ts";
import { SocketObject } from "./socket-object.ts";
import { SqlRecoveryLog } from "./sql-recovery-log.ts";
import { tokenPorts, type VerifyToken } from "./token-users.ts";

/** A binding to the objects of one class. */
interface Rooms {
  getByName(room: string): ServerSideRpc;
}

export abstract class SocketIoObject<Env = Cloudflare.Env> extends SocketObject<Env> {
  /** The namespaces by name; `/` is the one of clients that name none. Each serves this object only: make it in the class. */
  abstract readonly namespaces: Readonly<Record<string, Namespace>>;
  /** Rules for namespaces that are made on demand, asked in order. */
  readonly dynamicNamespaces?: readonly DynamicNamespace[];
  readonly options?: SocketIoOptions;
  /** Where it is there, a client needs a token, or a user whom `authenticate` of the Worker has named. */
  readonly verify?: VerifyToken;
  /** The objects that `serverSideEmit` reaches. Default: those of the class that the Worker exports under this class's name. */
  protected readonly rooms?: Rooms;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, (_ctx, _env, ports) => this.#create(ports));
  }

  #create(ports: ObjectPorts): Application {
    const { namespaces, dynamicNamespaces: dynamic } = this;
    if (typeof namespaces !== "object" || namespaces === null)
      throw new Error(`${this.constructor.name}: it needs namespaces, as in \`namespaces = { "/": new Board() }\``);
    const limits = readOptions(this.options ?? {});
    const tokens = tokenPorts(this.ctx.id.name ?? "", this.verify && ((...given) => this.verify!(...given)));
    const rooms = this.rooms ?? this.#exported;
    const table = { static: namespaces, dynamic, recovery: (nsp: string) => this.#recovery(nsp, limits, ports) };
    return { server: new Server(limits, table, { ...ports, tokens }), limits, ...(rooms && { rooms }) };
  }

  get #exported(): Rooms | undefined {
    const { exports } = this.ctx as { readonly exports?: Readonly<Record<string, unknown>> };
    const exported = exports?.[this.constructor.name] as Partial<Rooms> | undefined;
    return typeof exported?.getByName === "function" ? (exported as Rooms) : undefined;
  }

  /** Clients may choose the names of namespaces; one that is too long for a log has no recovery. */
  #recovery(nsp: string, { recoveryWindowMs: windowMs }: GivenOptions, ports: ObjectPorts): Namespace["recovery"] {
    if (windowMs === undefined || nsp.length > LOG_NAME_CHARS_MAX || !nsp.isWellFormed()) return undefined;
    const name = nsp === "/" ? {} : { name: nsp };
    return {
      windowMs,
      log: new SqlRecoveryLog(ports.storage, { windowMs, now: () => ports.now(), newName: newId, ...name }),
    };
  }
}
