// The Worker of the auctions, and their object: one for each lot.
import { connect, jwt, SocketIoObject } from "parley-rooms/socketio";

import { Auction } from "./auction.ts";

interface Env {
  readonly AUCTION: DurableObjectNamespace<AuctionObject>;
  readonly JWT_SECRET: string;
}

export class AuctionObject extends SocketIoObject<Env> {
  namespaces = { "/": new Auction() };
  override verify = jwt({ secret: this.env.JWT_SECRET });

  /** From your Worker, or from another object: `env.AUCTION.getByName(lot).begin(3600)`. */
  begin(seconds: number): void {
    this.namespaces["/"].closeAt(Date.now() + seconds * 1000);
  }
}

export default {
  fetch: (request, env) =>
    connect(request, {
      object: (lot) => env.AUCTION.getByName(lot),
      allowedOrigins: ["https://auctions.example.com"],
      otherwise: () => new Response("a page of your own"),
    }),
} satisfies ExportedHandler<Env>;
