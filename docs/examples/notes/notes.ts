// Notes that people keep together: each board is an object of its own, and stores its notes in SQLite.
import { Namespace, SocketIoObject, type Handlers, type Socket } from "parley-rooms/socketio";

export interface Note {
  /** Chosen by the client, so that a note which is sent again is known. */
  readonly id: string;
  readonly text: string;
}

interface ClientToServerEvents {
  add: (note: Note, ack: (answer: { ok: true }) => void) => void;
  list: (ack: (notes: Note[]) => void) => void;
}
interface ServerToClientEvents {
  added: (note: Note) => void;
}
type Client = Socket<ServerToClientEvents>;

class Notes extends Namespace<ClientToServerEvents, ServerToClientEvents> {
  override onStart() {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, text TEXT)");
  }

  handlers: Handlers<ClientToServerEvents, Client> = {
    add: (_client, { id, text }, ack) => {
      const stored = this.ctx.storage.sql.exec("INSERT OR IGNORE INTO notes VALUES (?, ?) RETURNING id", id, text);
      if (stored.toArray().length > 0) this.emit("added", { id, text });
      ack?.({ ok: true });
    },
    list: (_client, ack) => ack?.(this.#all()),
  };

  #all(): Note[] {
    return this.ctx.storage.sql
      .exec<{ id: string; text: string }>("SELECT id, text FROM notes ORDER BY rowid")
      .toArray();
  }
}

export class NotesObject extends SocketIoObject {
  namespaces = { "/": new Notes() };
}
