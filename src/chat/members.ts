// Who is in the room: people, not connections. Several tabs of a user are one member, and only the
// first to come and the last to go change anything that others hear of.
import type { Member, PresenceChange } from "../protocol/chat-events.ts";

interface Presence {
  name: string;
  /** Join times of the user's connections, by socket id, in milliseconds since 1970. */
  readonly connections: Map<string, number>;
}

export class Members {
  readonly #present = new Map<string, Presence>();
  /** What changed since the last `takeChange`: names of those who joined, ids of those who left. */
  readonly #joined = new Map<string, string>();
  readonly #left = new Set<string>();

  get count(): number {
    return this.#present.size;
  }

  /** A connection that is there already, after sleep: nobody is told. */
  restore(user: string, name: string, socketId: string, sinceMs: number): void {
    const presence = this.#present.get(user);
    if (presence) presence.connections.set(socketId, sinceMs);
    else this.#present.set(user, { name, connections: new Map([[socketId, sinceMs]]) });
  }

  /** @returns whether this made the user a member */
  add(user: string, name: string, socketId: string, sinceMs: number): boolean {
    const isNew = !this.#present.has(user);
    this.restore(user, name, socketId, sinceMs);
    // Gone and back within one window: nobody heard of either.
    if (isNew && !this.#left.delete(user)) this.#joined.set(user, name);
    return isNew;
  }

  /** @returns whether the user's last connection went */
  remove(user: string, socketId: string): boolean {
    const presence = this.#present.get(user);
    if (!presence?.connections.delete(socketId) || presence.connections.size > 0) return false;
    this.#present.delete(user);
    if (!this.#joined.delete(user)) this.#left.add(user);
    return true;
  }

  /** Those who have been here longest come first. */
  list(): Member[] {
    return [...this.#present]
      .map(([user, { name, connections }]) => ({
        user,
        name,
        connections: connections.size,
        since: Math.min(...connections.values()),
      }))
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
