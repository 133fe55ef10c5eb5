// Describes the connection's state in words, with the action that the reader can take. Empty while connected. Pure.
import type { Connection } from "./room-view-ports.ts";

/** `rejoin` is offered where messages are written. */
type Action = "retry" | "rejoin" | "sign-in";

export interface Status {
  /** Names the state for tests and style sheets. */
  readonly state: string;
  /** Empty where there is nothing to say. */
  readonly text: string;
  readonly tone: "quiet" | "good" | "warn" | "bad";
  readonly action?: Action;
}

const WAITING: Readonly<Record<string, string>> = {
  ROOM_FULL: "The room is full. You get in as soon as there is a place",
  TOO_MANY_CONNECTIONS: "Too many connections of yours. Waiting for one to end",
  SERVER_SHUTDOWN: "The server restarts. Reconnecting in a moment",
};

const STOPPED: Readonly<Record<string, readonly [state: string, text: string, action?: Action]>> = {
  KICKED: ["kicked", "", "rejoin"],
  BANNED: ["banned", ""],
  TOKEN_EXPIRED: ["expired", "Your session has expired.", "sign-in"],
  TOKEN_NEEDED: ["token-needed", "", "sign-in"],
  UNAUTHORIZED: ["unauthorized", "Your token is not accepted here.", "sign-in"],
  FORBIDDEN_ROOM: ["forbidden", "Your token does not open this room.", "sign-in"],
  ROOM_DELETED: ["deleted", "This room was deleted.", "rejoin"],
  ENDED: ["ended", "The room ended the connection.", "retry"],
};

/** Why nothing can be written after an end that people decided; empty otherwise. */
export function endOf(connection: Connection): string {
  if (connection.kind !== "stopped") return "";
  return Object.hasOwn(ENDS, connection.code) ? ENDS[connection.code]! : "";
}

const ENDS: Readonly<Record<string, string>> = {
  KICKED: "You are not in this room any more.",
  BANNED: "You cannot write here.",
  FORBIDDEN_ROOM: "You cannot write here.",
  ROOM_DELETED: "You are not in this room any more.",
};

/**
 * @param pending messages that wait to be sent
 * @param isOnline whether the browser has a network; if it has, it is the server that does not answer
 */
export function statusOf(connection: Connection, pending: number, isOnline = true): Status {
  switch (connection.kind) {
    case "connecting":
      return { state: "connecting", text: "Connecting…", tone: "quiet" };
    case "connected":
      return { state: "connected", text: connection.isBack ? "Connected again" : "", tone: "good" };
    case "offline":
      return offline(connection.code, pending, isOnline);
    case "stopped":
      return stopped(connection.code, connection.message);
  }
}

function offline(code: string, pending: number, isOnline: boolean): Status {
  const state = code === "ROOM_FULL" ? "full" : "offline";
  const lost = isOnline ? "No connection to the chat" : "You are offline";
  const why = Object.hasOwn(WAITING, code) && isOnline ? WAITING[code]! : lost;
  const queued = pending === 1 ? " · 1 message waits" : pending > 1 ? ` · ${pending} messages wait` : "";
  return { state, text: `${why}${queued}`, tone: "warn", action: "retry" };
}

function stopped(code: string, message: string): Status {
  if (!Object.hasOwn(STOPPED, code))
    return { state: "refused", text: `The room refused: ${message}`, tone: "bad", action: "retry" };
  const [state, text, action] = STOPPED[code]!;
  // The room's text explains a decision of a moderator; a reader without a token learns where to get one.
  return { state, text: text || message, tone: "bad", ...(action && { action }) };
}
