// The interface of a load test's member of any kind, and the events that it reports.
import type { Target } from "../measuring/raw-socket.ts";

/** The server, and where on it a room is. */
export interface Where {
  readonly origin: string;
  /** With `{room}` and `{user}`; the query of the endpoint goes behind it. */
  readonly pathTemplate: string;
}

export interface ClientSlot {
  /** Counts all users of the run. */
  readonly number: number;
  readonly user: string;
  /** Counts all rooms of the run. */
  readonly roomNumber: number;
  readonly room: string;
  /** Its protocol: plain Socket.IO, or with the extensions of this project's client. */
  readonly dialect: "stock" | "shim";
  readonly transport: "websocket" | "polling";
  /** A client library, instead of the few lines that can be had ten thousand times. */
  readonly isReal: boolean;
  readonly token?: string;
  readonly localAddress?: string;
}

/** The methods of members of all kinds. */
export interface Member {
  readonly slot: ClientSlot;
  readonly isIn: boolean;
  /** Posts without an answer so far. */
  readonly unanswered: number;
  /** Those sent over the connection that still stands: only the server can have lost them. */
  readonly ignored: number;
  /** Resolves when the room has let it in; rejects with a `JoinError`. */
  join(): Promise<void>;
  /** @returns whether it could be sent: a member that is away cannot */
  post(post: Post): boolean;
  /** Goes for good. */
  leave(): void;
}

export interface Post {
  readonly code: number;
  readonly content: string;
  readonly dueUs: number;
  /** Called with the answer, positive or not. */
  readonly onAnswer?: () => void;
}

/** The callbacks of all members of a process. */
export interface Observer {
  /** A message of a room, as a member got it. `mark` where it belongs to this run. */
  delivered(member: Member, seq: number, mark: { room: number; code: number; dueUs: number } | undefined): void;
  /** The room's last seq when the member connected, from its welcome. */
  entered(member: Member, lastSeq: number): void;
  acked(member: Member, seq: number, post: Post): void;
  refused(member: Member, code: string): void;
  /** The connection ended unexpectedly. */
  dropped(member: Member, reason: string): void;
  /** It is back. */
  returned(member: Member, recovered: boolean): void;
  /** Something happened that should not. */
  failed(reason: string): void;
  /** Frames that went to the server: incoming messages, for its bill. */
  sent(frames: number): void;
  /** A heartbeat went out over a WebSocket: the answer to a ping, or the client's own. */
  beat(): void;
  /** Requests that went to the server: upgrades, and each poll. */
  requested(): void;
}

export class JoinError extends Error {
  /** `429`, `UNAUTHORIZED`, `ECONNREFUSED`: short, and the same for all whom the same befell. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function pathOf({ pathTemplate }: Where, { room, user }: ClientSlot): string {
  return pathTemplate.replaceAll("{room}", encodeURIComponent(room)).replaceAll("{user}", encodeURIComponent(user));
}

/** The endpoint's whole path, as an Engine.IO client asks for it. */
export function endpointOf(where: Where, slot: ClientSlot, query: Readonly<Record<string, string>>): string {
  const path = pathOf(where, slot);
  return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ EIO: "4", ...query }).toString()}`;
}

export function targetOf(where: Where, slot: ClientSlot, path: string): Target {
  const { protocol, hostname, port } = new URL(where.origin);
  const isSecure = protocol === "https:";
  return {
    host: hostname,
    port: Number(port) || (isSecure ? 443 : 80),
    path,
    ...(isSecure && { isSecure }),
    ...(slot.localAddress && { localAddress: slot.localAddress }),
  };
}
