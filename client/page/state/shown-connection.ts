// The connection as the page shows it: fewer states than the client has, each with its words and the action that the reader can
// take. The room view keeps it up to date; the status line and the composer read it.
import type { Connection } from "parley-rooms/client";

import { phrase, t, tn } from "./language.ts";
import { sentenceOf } from "./room-answers.ts";

export type ShownConnection =
  | { readonly kind: "connecting" }
  | { readonly kind: "connected"; readonly isBack: boolean }
  /** `code` as in CONNECT_ERROR or the last notice; empty where there was none. `isTokenNeeded`: it stopped because nothing gives a token. */
  | {
      readonly kind: "offline" | "stopped";
      readonly code: string;
      readonly message: string;
      readonly isTokenNeeded?: true;
    };

/** How long the page shows that the connection is back. */
const BACK_MS = 4000;

/** Hides single attempts to reconnect, and shows for a moment that the connection is back. */
export class ConnectionDisplay {
  connection: ShownConnection = { kind: "connecting" };
  readonly #changed: () => void;
  #wasOffline = false;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  follow(connection: Connection): void {
    switch (connection.state) {
      case "connecting":
        if (!this.#wasOffline || this.connection.kind === "stopped") this.connection = { kind: "connecting" };
        break;
      case "connected":
        this.connection = { kind: "connected", isBack: this.#wasOffline };
        if (this.#wasOffline) setTimeout(() => this.#calmDown(), BACK_MS);
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
  end(code: string, message: string, needed: { readonly isTokenNeeded?: true } = {}): void {
    this.connection = { kind: "stopped", code, message, ...needed };
  }

  #calmDown(): void {
    if (this.connection.kind !== "connected" || !this.connection.isBack) return;
    this.connection = { kind: "connected", isBack: false };
    this.#changed();
  }
}

/** `rejoin` is offered in place of the composer. */
type Action = "retry" | "rejoin" | "sign-in";

export interface Status {
  /** Names the state for tests. */
  readonly state: string;
  /** Empty where there is nothing to say. */
  readonly text: string;
  readonly tone: "quiet" | "good" | "warn" | "bad";
  readonly action?: Action;
}

const WAITS = new Map([
  ["ROOM_FULL", phrase("The room is full. You get in as soon as there is a place")],
  ["SERVER_SHUTDOWN", phrase("The server restarts. Reconnecting in a moment")],
]);

interface End {
  readonly state: string;
  /** Without it, the room's own text explains the end. */
  readonly text?: string;
  readonly action?: Action;
}

const ENDS = new Map<string, End>([
  ["KICKED", { state: "kicked", action: "rejoin" }],
  ["BANNED", { state: "banned" }],
  ["TOKEN_EXPIRED", { state: "expired", text: phrase("Your session has expired."), action: "sign-in" }],
  ["TOKEN_NEEDED", { state: "token-needed", action: "sign-in" }],
  ["UNAUTHORIZED", { state: "unauthorized", text: phrase("Your token is not accepted here."), action: "sign-in" }],
  ["FORBIDDEN_ROOM", { state: "forbidden", text: phrase("Your token does not open this room."), action: "sign-in" }],
  ["ROOM_DELETED", { state: "deleted", text: phrase("This room was deleted."), action: "rejoin" }],
  ["ENDED", { state: "ended", text: phrase("The room ended the connection."), action: "retry" }],
]);

/**
 * @param pending messages that wait to be sent
 * @param isOnline whether the browser has a network; if it has one, it is the server that does not answer
 */
export function statusOf(connection: ShownConnection, pending: number, isOnline = true): Status {
  switch (connection.kind) {
    case "connecting":
      return { state: "connecting", text: t("Connecting…"), tone: "quiet" };
    case "connected":
      return { state: "connected", text: connection.isBack ? t("Connected again") : "", tone: "good" };
    case "offline": {
      const { code, message } = connection;
      // There are several such limits, and only the room knows which one it is.
      const known = code === "TOO_MANY_CONNECTIONS" ? message : WAITS.get(code);
      const reason = isOnline ? (known ? t(known) : t("No connection to the chat")) : t("You are offline");
      const queued = pending > 0 ? ` · ${tn(pending, "{n} message waits", "{n} messages wait")}` : "";
      const state = code === "ROOM_FULL" ? "full" : "offline";
      return { state, text: reason + queued, tone: "warn", action: "retry" };
    }
    case "stopped": {
      const { code, message } = connection;
      const end = ENDS.get(code) ?? {
        state: "refused",
        text: t("The room refused: {reason}", { reason: message }),
        action: "retry",
      };
      return {
        state: end.state,
        text: end.text === undefined ? sentenceOf(message) : t(end.text),
        tone: "bad",
        ...(end.action && { action: end.action }),
      };
    }
  }
}
