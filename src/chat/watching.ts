// The namespace of operators who watch a room: its connections, and why it is awake. It sends an update when something has
// changed and keeps the room awake for nothing else, so a silent room sleeps while it is watched. Made by src/objects/create-chat.ts.
import type { RefusalCode } from "../protocol/chat-events.ts";
import { WATCH_INTERVAL_MS, WATCH_QUERY, type WatchedRoom, type WatchEvents } from "../protocol/watching.ts";
import type { Deadline } from "../clock/deadlines.ts";
import { Throttle } from "../clock/rates.ts";
import {
  CONTEXT,
  Namespace,
  type ConnectRequest,
  type NamespaceContext,
  type Refusal,
  type AuthorizeResult,
} from "../socketio/server/namespace.ts";
import type { Handshake } from "../socketio/engine/session.ts";
import type { Socket } from "../socketio/server/socket.ts";
import type { Identity } from "../protocol/identity.ts";
import { deny } from "../protocol/refuse.ts";
import type { Chat } from "./chat.ts";
import type { Membership } from "./room/room.ts";

/** WATCH-1: watchers of one room at the same time. */
export const WATCHERS_MAX = 16;

type Sessions = NamespaceContext["sessions"];

type Watcher = Pick<Membership, "user" | "name" | "role">;

/** Facts about the room that only its object knows. */
export interface ObjectFacts {
  /** @param sessions all of the object */
  readonly look: (sessions: Sessions) => Pick<WatchedRoom, "awake" | "connections" | "hasMore">;
}

export class Watching extends Namespace<Record<string, never>, WatchEvents, Watcher> {
  readonly handlers = {};
  readonly #chat: Chat;
  readonly #object: ObjectFacts;
  #due!: Deadline;
  readonly #throttle = new Throttle(WATCH_INTERVAL_MS);
  /** The counts of the latest update, as text to compare. */
  #shown = "";

  constructor(chat: Chat, object: ObjectFacts) {
    super();
    this.#chat = chat;
    this.#object = object;
  }

  override onStart(): void {
    this.#due = this.deadline("watch", () => this.look(), { keepsAwake: true });
  }

  /** WATCH-1: admits users that the room would let in and that may call the HTTP API about it. */
  override authorize(request: ConnectRequest<Identity>): AuthorizeResult<Watcher> {
    const decision = this.#chat.authorize(request);
    if (!decision.accepted) return decision;
    const { user, name, role } = decision.data;
    const watcher = { user, name, role };
    return this.#refuse(watcher) ?? { accepted: true, data: watcher };
  }

  override admit(watcher: Watcher): Refusal | undefined {
    if (this.sockets.size >= WATCHERS_MAX)
      return deny("ROOM_FULL", `At most ${WATCHERS_MAX} may watch a room at a time`);
    return this.#refuse(watcher);
  }

  #refuse(watcher: Watcher): Refusal | undefined {
    const refusal = this.#chat.calls.refuseStaff(watcher);
    return refusal && deny(refusal.error.code as RefusalCode, refusal.error.message);
  }

  override onConnect(watcher: Socket<WatchEvents, Watcher>): void {
    const nowMs = this[CONTEXT].now();
    watcher.emit("watch", this.#describe(nowMs));
    // Other watchers get the next update.
    if (this.sockets.size === 1) this.#note(this.#seen, nowMs);
  }

  override onDisconnect(): void {
    if (this.sockets.size === 0) this.#due.clear();
  }

  /** Called after each turn: sends the changes, at once or when it is time again. WATCH-2 */
  look(): void {
    if (this.sockets.size === 0) return;
    const seen = this.#seen;
    if (seen === this.#shown) return;
    const nowMs = this[CONTEXT].now();
    if (!this.#throttle.isOpen(nowMs)) return this.#due.pull(this.#throttle.dueMs(nowMs));
    this.#due.clear();
    this.#note(seen, nowMs);
    this.#dropUnfit(nowMs);
    if (this.sockets.size > 0) this.emit("watch", this.#describe(nowMs));
  }

  get #seen(): string {
    const { members, lastSeq } = this.#chat.calls.pulse;
    return `${members} ${this.#chat.sockets.size} ${lastSeq} ${this.#connectionCount}`;
  }

  /** Changes with each connection that opens or closes. */
  get #connectionCount(): number {
    return this[CONTEXT].sessions.size + (this.#chat.room.remote?.connections ?? 0);
  }

  #note(seen: string, nowMs: number): void {
    this.#shown = seen;
    this.#throttle.pass(nowMs);
  }

  /** WATCH-3: disconnects watchers whose token has ended or whose rights were taken. */
  #dropUnfit(nowMs: number): void {
    for (const watcher of this.sockets.values()) {
      const { exp = Infinity } = watcher.token ?? {};
      if (exp * 1000 <= nowMs || this.#refuse(watcher.peek())) watcher.disconnect(true);
    }
  }

  #describe(nowMs: number): WatchedRoom {
    return {
      room: this.#chat.room.name,
      at: nowMs,
      ...this.#chat.calls.pulse,
      connectionCount: this.#connectionCount,
      ...this.#object.look(this[CONTEXT].sessions),
    };
  }
}

/**
 * WATCH-4: whether a connection is there for watching only.
 * @param sockets its sockets by namespace, once it is open
 */
export function isWatching({ query }: Handshake, sockets: ReadonlyMap<string, unknown> | undefined): boolean {
  return query[WATCH_QUERY] === "1" || (sockets !== undefined && sockets.size > 0 && !sockets.has("/"));
}
