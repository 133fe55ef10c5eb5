// A list of guests that stays right when its object sleeps, and closing time for all of them. docs/socket-io-reference.md shows parts of it.
import {
  connect,
  Namespace,
  SocketIoObject,
  type ConnectRequest,
  type Deadline,
  type Handlers,
  type Socket,
} from "parley-rooms/socketio";

interface ClientToServerEvents {
  who: (ack: (guests: string[]) => void) => void;
  "close in": (ms: number, ack: () => void) => void;
}
interface ServerToClientEvents {
  left: (name: string) => void;
}
type Guest = Socket<ServerToClientEvents, { name: string }>;

class Guestbook extends Namespace<ClientToServerEvents, ServerToClientEvents, { name: string }> {
  get rows() {
    return this.ctx.storage.kv;
  }

  handlers: Handlers<ClientToServerEvents, Guest> = {
    who: (_guest, ack) => ack?.([...this.sockets.values()].map((guest) => guest.peek().name).toSorted()),
    "close in": (_guest, ms, ack) => {
      this.closeIn(ms);
      ack?.();
    },
  };

  override authorize({ auth }: ConnectRequest) {
    return { accepted: true as const, data: { name: String(auth["name"]) } };
  }

  override onConnect(guest: Guest) {
    if (guest.transport === "polling") this.rows.put(`guest:${guest.id}`, guest.peek().name);
  }

  override onDisconnect(guest: Guest) {
    this.rows.delete(`guest:${guest.id}`);
    this.emit("left", guest.peek().name);
  }

  override onWake() {
    for (const [row, name] of this.rows.list<string>({ prefix: "guest:" })) {
      if (this.sockets.has(row.slice("guest:".length))) continue;
      this.rows.delete(row);
      this.emit("left", name);
    }
  }

  #closing!: Deadline;

  override onStart() {
    const close = () => {
      this.rows.delete("closesAtMs");
      this.disconnectSockets();
    };
    this.#closing = this.deadline("closing", close, { survivesCrash: true });
    const atMs = this.rows.get<number>("closesAtMs");
    if (atMs !== undefined) this.#closing.set(atMs);
  }

  closeIn(ms: number) {
    const atMs = Date.now() + ms;
    this.rows.put("closesAtMs", atMs);
    this.#closing.set(atMs);
  }
}

export class GuestbookObject extends SocketIoObject {
  namespaces = { "/": new Guestbook() };
}

export default {
  fetch: (request, env) => connect(request, { object: (room) => env.GUESTBOOK.getByName(room) }),
} satisfies ExportedHandler<{ GUESTBOOK: DurableObjectNamespace<GuestbookObject> }>;
