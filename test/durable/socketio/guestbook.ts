// A third-party application: a list of guests that stays right when the sleep of its object ends long-polling sessions. It stores a row for
// each of their guests, and looks for them when it wakes.
import { Namespace, SocketIoObject, type Deadline, type Handlers, type Socket } from "parley-rooms/socketio";

interface Incoming {
  who: (ack: (guests: string[]) => void) => void;
  "close in": (ms: number, ack: () => void) => void;
}
interface Outgoing {
  left: (name: string) => void;
}
type Guest = Socket<Outgoing, { name: string }>;

const rowOf = (id: string): string => `guest:${id}`;

class Guestbook extends Namespace<Incoming, Outgoing, { name: string }> {
  readonly #rows: SyncKvStorage;
  #closing!: Deadline;
  readonly handlers: Handlers<Incoming, Guest> = {
    "close in": (_guest, ms, ack) => (this.#closeIn(ms), ack()),
    who: (_guest, ack) => ack([...this.sockets.values()].map((guest) => guest.peek().name).toSorted()),
  };

  constructor(rows: SyncKvStorage) {
    super();
    this.#rows = rows;
  }

  override authorize = ({ auth }: { auth: Readonly<Record<string, unknown>> }) => ({
    accepted: true as const,
    data: { name: String(auth["name"]) },
  });

  override onStart(): void {
    this.#closing = this.deadline("closing", () => {
      this.#rows.delete("closesAtMs");
      this.disconnectSockets();
    });
    const atMs = this.#rows.get<number>("closesAtMs");
    if (atMs !== undefined) this.#closing.set(atMs);
  }

  #closeIn(ms: number): void {
    const atMs = this.context.now() + ms;
    this.#rows.put("closesAtMs", atMs);
    this.#closing.set(atMs);
  }

  override onConnect(guest: Guest): void {
    if (guest.transport === "polling") this.#rows.put(rowOf(guest.id), guest.peek().name);
  }

  override onDisconnect(guest: Guest): void {
    this.#rows.delete(rowOf(guest.id));
    this.emit("left", guest.peek().name);
  }

  override onWake(): void {
    for (const [row, name] of this.#rows.list<string>({ prefix: rowOf("") })) {
      if (this.sockets.has(row.slice(rowOf("").length))) continue;
      this.#rows.delete(row);
      this.emit("left", name);
    }
  }
}

export class GuestbookRoom extends SocketIoObject {
  readonly namespaces = { "/": new Guestbook(this.ctx.storage.kv) };
}
