// The base class of Durable Objects that serve Socket.IO: `parley-rooms/socketio` exports it. A subclass names its namespaces; the Worker
// passes connections to it by `connect` (src/worker/connect/connect.ts).
import { STEPS, type Namespace } from "../src/socketio/server/namespace.ts";
import type { DynamicNamespace } from "../src/socketio/server/namespaces.ts";
import { Server } from "../src/socketio/server/server.ts";
import type { ServerSideRpc } from "../src/rpc/server-side.ts";
import type { Application, ObjectPorts } from "../src/socketio/object/application.ts";
import { exportedNamespace } from "../src/socketio/object/exported-namespace.ts";
import { settle } from "../src/socketio/object/object-namespace.ts";
import { readOptions, type SocketIoOptions } from "../src/socketio/object/options.ts";
import { SocketObject } from "../src/socketio/object/socket-object.ts";
import type { MakeRecovery } from "../src/socketio/object/state-recovery.ts";
import { refuseTakenNames } from "../src/socketio/object/taken-names.ts";
import { tokenPorts, type VerifyToken } from "../src/socketio/object/token-users.ts";

/** A binding to the objects of one class. */
interface Rooms {
  getByName(room: string): ServerSideRpc;
}

export abstract class SocketIoObject<Env = Cloudflare.Env> extends SocketObject<Env> {
  /** The namespaces by name; `/` is the one of clients that name none. Each serves this object only: make it in the class. */
  abstract readonly namespaces: Readonly<Record<string, Namespace>>;
  /** Rules for namespaces that are made on demand, asked in order. */
  readonly dynamicNamespaces?: readonly DynamicNamespace[] | undefined;
  readonly options?: SocketIoOptions | undefined;
  /** `connectionStateRecovery()`, for all namespaces that have no recovery of their own. Default: none. */
  readonly recovery?: MakeRecovery | undefined;
  /** Where it is there, a client needs a token, or a user whom `authenticate` of the Worker has named. */
  readonly verify?: VerifyToken | undefined;
  /** The objects that `serverSideEmit` reaches. Default: those of this class, if the Worker exports it. */
  protected readonly rooms?: Rooms | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, (ports) => this.#create(ports));
  }

  #create(ports: ObjectPorts): Application {
    refuseTakenNames(this, SocketIoObject);
    const { namespaces, ctx, env } = this;
    for (const [nsp, namespace] of Object.entries<Namespace | undefined>(namespaces ?? { "": undefined }))
      if (nsp[0] !== "/" || !namespace?.[STEPS] || !namespace.handlers)
        throw new Error(
          `${this.constructor.name}: namespaces: "${nsp}" is no Namespace with handlers, as { "/": new Board() }`,
        );
    for (const namespace of Object.values(namespaces)) settle(namespace, { ctx, env });
    const dynamic = this.dynamicNamespaces?.map(({ match, create }) => ({
      match,
      create: (nsp: string) => settle(create(nsp), { ctx, env }),
    }));
    const limits = readOptions(this.options ?? {});
    const tokens = tokenPorts(this.ctx.id.name ?? "", this);
    const rooms = this.rooms ?? (exportedNamespace(this.ctx) as Rooms | undefined);
    const table = { static: namespaces, dynamic, recovery: (nsp: string) => this.recovery?.(nsp, ports) };
    const server = new Server(limits, table, { ...ports, tokens, view: asOnNode });
    return { server, limits, transports: limits.transports, rooms };
  }
}

interface BufferClass {
  from(buffer: ArrayBufferLike, byteOffset: number, length: number): Uint8Array;
}

/** @returns the same bytes as a `Buffer`, where the flag `nodejs_compat` gives the Worker that */
function asOnNode(bytes: Uint8Array): Uint8Array {
  const { Buffer } = globalThis as { readonly Buffer?: BufferClass };
  return Buffer ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : bytes;
}
