// Lets clients of a server of the package have bundles (BUN-1), if its object offers them. Called by durable/engine-object.ts.
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
      if (asksForBundles((auth ?? {}) as Fields, (query ?? {}) as Fields))
        conn.bundle(socket.nsp.name, socket.pid !== undefined);
      // An earlier socket of the connection may have asked. Its end is no place for this: an application may remove all listeners of a socket.
      else conn.unbundle(socket.nsp.name);
    });
  offer(sockets as On<"connection", BundlingSocket>);
  (sockets as On<"new_namespace", On<"connection", BundlingSocket>>).on("new_namespace", offer);
}
