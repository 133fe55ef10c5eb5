// Who is in the room: people, not connections. Several tabs of a user are one member, and only the
// first to come and the last to go change anything that others hear of.
import type { Member, PresenceChange } from "../protocol/chat-events.ts";

/** One tab, or one device, of a member. */
export interface Connection {
  readonly socketId: string;
  /** The display name that its token gives. */
  readonly name: string;
  /** When it joined, in milliseconds since 1970. */
  readonly sinceMs: number;
}

export class Members {
  /** Connections by user and socket id. */
  readonly #present = new Map<string, Map<string, Connection>>();
  /** What changed since the last `takeChange`: names of those who joined, ids of those who left. */
  readonly #joined = new Map<string, string>();
  readonly #left = new Set<string>();

  get count(): number {
    return this.#present.size;
  }

  /** Whether somebody came of whom the others have not been told. */
  get hasJoined(): boolean {
    return this.#joined.size > 0;
  }

  /** Notes a connection, or what changed about it; nobody is told. */
  note(user: string, connection: Connection): void {
    const connections = this.#present.get(user);
    if (connections) connections.set(connection.socketId, connection);
    else this.#present.set(user, new Map([[connection.socketId, connection]]));
  }

  /** @returns whether this made the user a member */
  add(user: string, connection: Connection): boolean {
    const isNew = !this.#present.has(user);
    this.note(user, connection);
    // Gone and back within one window: nobody heard of either.
    if (isNew && !this.#left.delete(user)) this.#joined.set(user, connection.name);
    return isNew;
  }

  /** @returns whether the user's last connection went */
  remove(user: string, socketId: string): boolean {
    const connections = this.#present.get(user);
    if (!connections?.delete(socketId) || connections.size > 0) return false;
    this.#present.delete(user);
    if (!this.#joined.delete(user)) this.#left.add(user);
    return true;
  }

  /** The ids of a user's sockets. */
  socketsOf(user: string): string[] {
    return [...(this.#present.get(user)?.keys() ?? [])];
  }

  /** Those who have been here longest come first. A member goes by the name of the oldest connection. */
  list(): Member[] {
    return [...this.#present]
      .map(([user, connections]): Member => {
        const oldest = [...connections.values()].reduce((a, b) => (isOlder(a, b) ? a : b));
        return { user, name: oldest.name, connections: connections.size, since: oldest.sinceMs };
      })
      .sort((a, b) => a.since - b.since || (a.user < b.user ? -1 : 1));
  }

  /** What the others have not been told yet, or `undefined` where nothing is left to tell. */
  takeChange(): PresenceChange | undefined {
    if (this.#joined.size === 0 && this.#left.size === 0) return undefined;
    const joined = [...this.#joined].map(([user, name]) => ({ user, name }));
    const left = [...this.#left].map((user) => ({ user }));
    this.#joined.clear();
    this.#left.clear();
    return { count: this.count, joined, left };
  }
}

/** Of two that joined in the same millisecond the ids decide, so that the answer is the same after sleep. */
function isOlder(a: Connection, b: Connection): boolean {
  return a.sinceMs < b.sinceMs || (a.sinceMs === b.sinceMs && a.socketId < b.socketId);
}
