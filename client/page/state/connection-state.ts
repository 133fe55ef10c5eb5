// Turns the connection's states into the few that the page shows: it hides single reconnection attempts, and shows for a
// moment that the connection is back. The room view owns it.
import type { Connection as RoomConnection } from "../../core/api.ts";
import type { Connection } from "./room-view-ports.ts";

/** How long it is worth a word that the connection is back. */
const BACK_MS = 4000;

export class ConnectionState {
  connection: Connection = { kind: "connecting" };
  readonly #changed: () => void;
  #wasOffline = false;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  follow(connection: RoomConnection): void {
    switch (connection.state) {
      case "connecting":
        if (!this.#wasOffline || this.connection.kind === "stopped") this.connection = { kind: "connecting" };
        break;
      case "connected":
        this.connection = { kind: "connected", isBack: this.#wasOffline };
        if (this.#wasOffline) setTimeout(() => this.#settleDown(), BACK_MS);
        this.#wasOffline = false;
        break;
      case "waiting":
        this.#wasOffline = true;
        this.connection = { kind: "offline", code: connection.code ?? "", message: connection.message };
        break;
      case "stopped":
        this.end(connection.code, connection.message);
    }
  }

  /** Only the reader can go on from here. */
  end(code: string, message: string): void {
    this.connection = { kind: "stopped", code, message };
  }

  #settleDown(): void {
    if (this.connection.kind !== "connected" || !this.connection.isBack) return;
    this.connection = { kind: "connected", isBack: false };
    this.#changed();
  }
}
