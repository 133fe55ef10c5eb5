// An auction of one lot, as a class that sleeps: what docs/from-socket-io.md makes of a server for Node, piece by piece.
import { Namespace, type ConnectRequest, type Deadline, type Handlers, type Socket } from "parley-rooms/socketio";

interface ClientToServerEvents {
  bid: (amount: number, ack: (answer: { ok: boolean }) => void) => void;
}
interface ServerToClientEvents {
  came: (name: string) => void;
  went: (name: string, bids: number) => void;
  highest: (amount: number, name: string) => void;
  outbid: (amount: number) => void;
  "minutes left": (minutes: number) => void;
  sold: (bid?: Bid) => void;
}
interface Bid {
  readonly amount: number;
  readonly by: string;
  readonly socketId: string;
}
interface Data {
  readonly name: string;
  bids: number;
}
type Bidder = Socket<ServerToClientEvents, Data>;

export class Auction extends Namespace<ClientToServerEvents, ServerToClientEvents, Data> {
  #closing!: Deadline;

  override authorize({ identity }: ConnectRequest) {
    return { accepted: true as const, data: { name: identity!.name, bids: 0 } };
  }

  override onConnect(bidder: Bidder) {
    this.emit("came", bidder.data.name);
  }

  override onDisconnect(bidder: Bidder) {
    this.emit("went", bidder.data.name, bidder.data.bids);
  }

  handlers: Handlers<ClientToServerEvents, Bidder> = {
    bid: (bidder, amount, ack) => {
      const { highest } = this;
      const ok = amount > (highest?.amount ?? 0);
      ack?.({ ok });
      if (!ok) return;
      bidder.data.bids += 1;
      this.ctx.storage.kv.put<Bid>("highest", { amount, by: bidder.data.name, socketId: bidder.id });
      if (highest) this.to(highest.socketId).emit("outbid", amount);
      this.emit("highest", amount, bidder.data.name);
    },
  };

  get highest(): Bid | undefined {
    return this.ctx.storage.kv.get<Bid>("highest");
  }

  override onStart() {
    const { kv } = this.ctx.storage;
    this.#closing = this.deadline("closing", () => {
      kv.delete("closesAtMs");
      this.emit("sold", this.highest);
    });
    const atMs = kv.get<number>("closesAtMs");
    if (atMs !== undefined) this.#closing.set(atMs);
    this.every("clock", 60_000, (nowMs) => this.emit("minutes left", this.minutesLeft(nowMs)));
  }

  minutesLeft(nowMs: number) {
    return Math.max(0, Math.ceil(((this.#closing.atMs ?? 0) - nowMs) / 60_000));
  }

  closeAt(atMs: number) {
    this.ctx.storage.kv.put("closesAtMs", atMs);
    this.#closing.set(atMs);
  }
}
