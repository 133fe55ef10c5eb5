// Lets clients of a stock server have bundles (BUN-1), if its object offers them. Called by durable/engine-object.ts.
import { asksForBundles } from "../socketio/wire/bundles.ts";
import type { EngineSocket } from "./engine-socket.ts";

type Fields = Readonly<Record<string, unknown>>;

interface BundlingSocket {
  /** Of a client that recovers. */
  readonly pid?: string;
  readonly nsp: { readonly name: string };
  readonly conn: unknown;
  readonly handshake?: { readonly auth: unknown; readonly query: unknown };
}

type On<Event extends string, Given> = { on(event: Event, listener: (given: Given) => void): unknown };

/** To be called before the application adds its listeners: what these send is in bundles, too. */
export function offerBundles(sockets: unknown): void {
  const offer = (nsp: On<"connection", BundlingSocket>): void =>
    void nsp.on("connection", (socket) => {
      // Middlewares may have taken some of it away.
      const { auth, query } = socket.handshake ?? {};
      const conn = socket.conn as EngineSocket;
      const { name } = socket.nsp;
      // Each socket of a connection decides anew. The end of a socket is no place to undo it: an application may remove all listeners of one.
      if (asksForBundles((auth ?? {}) as Fields, (query ?? {}) as Fields)) conn.bundle(name, socket.pid !== undefined);
      else conn.unbundle(name);
    });
  offer(sockets as On<"connection", BundlingSocket>);
  (sockets as On<"new_namespace", On<"connection", BundlingSocket>>).on("new_namespace", offer);
}
