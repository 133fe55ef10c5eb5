// Draws how the connection stands, in words, with a way back where the stock client has given up.
import type { RefusalCode } from "../../src/protocol/chat-events.ts";
import { element } from "./elements.ts";
import type { Connection } from "./visit.ts";

const REFUSALS: Record<RefusalCode, string> = {
  UNAUTHORIZED: "your token is not accepted",
  TOKEN_EXPIRED: "your token has expired",
  FORBIDDEN_ROOM: "your token does not open this room",
  BANNED: "you are banned from this room",
  ROOM_FULL: "the room is full",
  TOO_MANY_CONNECTIONS: "too many connections from your address",
};

export class ConnectionLine {
  readonly #line = element("connection", HTMLParagraphElement);
  readonly #reconnect = element("reconnect", HTMLButtonElement);

  constructor(reconnect: () => void) {
    this.#reconnect.addEventListener("click", reconnect);
  }

  render(connection: Connection): void {
    const text = describe(connection);
    // A status is read aloud whenever it is written, changed or not.
    if (this.#line.textContent !== text) this.#line.textContent = text;
    this.#line.dataset["state"] = connection.kind;
    this.#reconnect.hidden = connection.kind !== "refused" && connection.kind !== "ended";
  }
}

function describe(connection: Connection): string {
  switch (connection.kind) {
    case "connecting":
      return "Connecting…";
    case "connected":
      return "Connected";
    case "offline":
      return "Offline, reconnecting…";
    case "refused":
      return `Refused: ${reasonOf(connection.code, connection.message)}`;
    case "ended":
      return "Disconnected by the room";
  }
}

function reasonOf(code: string, message: string): string {
  if (code === "") return message;
  return `${Object.hasOwn(REFUSALS, code) ? REFUSALS[code as RefusalCode] : message} (${code})`;
}
