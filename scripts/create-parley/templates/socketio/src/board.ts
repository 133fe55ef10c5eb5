// A board: its namespace handles the events of its clients. One object each; index.ts exports it.
import { Namespace, SocketIoObject, type Handlers, type Socket } from "parley-rooms/socketio";

import type { ClientToServerEvents, Line, ServerToClientEvents } from "./events.ts";

type Client = Socket<ServerToClientEvents>;

const LINES_MAX = 5000;

class Board extends Namespace<ClientToServerEvents, ServerToClientEvents> {
  /** A copy in memory, which goes while the board sleeps. */
  #lines: Line[] = [];

  get #sql(): SqlStorage {
    return this.ctx.storage.sql;
  }

  /** Runs each time that the board starts or wakes. */
  override onStart(): void {
    this.#sql.exec("CREATE TABLE IF NOT EXISTS lines (id INTEGER PRIMARY KEY, line TEXT NOT NULL)");
    const rows = this.#sql.exec<{ line: string }>("SELECT line FROM lines ORDER BY id").toArray();
    this.#lines = rows.map(({ line }) => JSON.parse(line) as Line);
  }

  handlers: Handlers<ClientToServerEvents, Client> = {
    draw: (socket, line, ack) => {
      const ok = isLine(line) && this.#lines.length < LINES_MAX;
      if (ok) {
        this.#lines.push(line);
        this.#sql.exec("INSERT INTO lines (line) VALUES (?)", JSON.stringify(line));
        socket.broadcast.emit("draw", line);
      }
      ack?.({ ok });
    },
    wipe: (socket) => {
      this.#lines.length = 0;
      this.#sql.exec("DELETE FROM lines");
      socket.broadcast.emit("wipe");
    },
  };

  /** Runs once for each socket, and not again when the board wakes. */
  override onConnect(socket: Client): void {
    socket.emit("board", this.#lines);
    this.emit("people", this.sockets.size);
  }

  override onDisconnect(): void {
    this.emit("people", this.sockets.size);
  }
}

export class BoardObject extends SocketIoObject {
  namespaces = { "/": new Board() };
}

/** Clients may send anything. */
const isLine = (value: unknown): value is Line =>
  Array.isArray(value) &&
  value.length === 4 &&
  value.every((part) => typeof part === "number" && Number.isFinite(part));
