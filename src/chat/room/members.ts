// The members of a room: people, not connections. Several tabs of a user are one member (CHAT-5), and an absent user, who
// may come back within the grace period, is one still (PRES-2). Presence notes every connection here; other parts look members up.
import type { Member, PresenceChange } from "../../protocol/chat-events.ts";

/** Members whom a room lists at most: PRES-3. */
export const MEMBERS_LISTED_MAX = 200;

/** One tab, or one device, of a member. */
export interface Connection {
  readonly socketId: string;
  /** The display name that its token gives. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
}

/** A member without a connection. */
export interface Remembered {
  readonly name: string;
  /** Beginning of the stay, in milliseconds since 1970. */
  readonly sinceMs: number;
}

/** One person's time in the room, reloads and all. */
interface Stay {
  /** A list that is made at its size, because a Map takes four times the memory. */
  connections: readonly Connection[];
  /** The name to go by while no connection is there. */
  name: string;
  sinceMs: number;
}

export class Members {
  readonly #namedMax: number;
  readonly #stays = new Map<string, Stay>();
  /** True while the stays are in the order in which they began. After sleep they are not. */
  #isOrdered = true;
  /** Changes since the last `takeChange`: names of members who joined, ids of members who left. */
  readonly #joined = new Map<string, string>();
  readonly #left = new Set<string>();
  readonly #watchers: Array<(left: readonly string[]) => void> = [];
  /** Members whose connections other objects hold. */
  #remote = 0;
  #hasMoved = false;

  /** @param namedMax members up to which a room tells of them by name */
  constructor(namedMax: number) {
    this.#namedMax = namedMax;
  }

  /** @param changed called after a member joined or left, before any notification, with the ids of those who left */
  watch(changed: (left: readonly string[]) => void): void {
    this.#watchers.push(changed);
  }

  #changed(left: readonly string[] = []): void {
    for (const changed of this.#watchers) changed(left);
  }

  /** Whether their number changed since members were last notified. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /**
   * @param count members whose connections other objects hold
   * @param isNew whether the others have to be notified
   */
  setRemote(count: number, isNew: boolean): void {
    if (count === this.#remote) return;
    this.#remote = count;
    if (isNew) this.tellAgain();
  }

  /** The others hear the number, also where it is the one that they heard last. */
  tellAgain(): void {
    this.#hasMoved = true;
    this.#changed();
  }

  has(user: string): boolean {
    return this.#stays.has(user);
  }

  /** Everybody, in no order. */
  *all(): Iterable<Remembered & { readonly user: string }> {
    for (const [user, { name, sinceMs }] of this.#stays) yield { user, name, sinceMs };
  }

  get count(): number {
    return this.#stays.size + this.#remote;
  }

  /** True in a room too large to name its members (PRES-3). */
  get isLarge(): boolean {
    return this.count > this.#namedMax;
  }

  /** True while a change waits to be sent to the others. */
  get hasChanged(): boolean {
    return this.#joined.size > 0 || this.#left.size > 0 || this.#hasMoved;
  }

  /**
   * Notes a connection, or its new name, without a notification.
   * @param memberSinceMs when the user became a member, where that was before this connection
   */
  note(user: string, connection: Connection, memberSinceMs = connection.sinceMs): void {
    this.noteAbsent(user, { name: connection.name, sinceMs: memberSinceMs });
    const stay = this.#stays.get(user)!;
    stay.connections = joined(stay.connections, connection);
    if (memberSinceMs >= stay.sinceMs) return;
    stay.sinceMs = memberSinceMs;
    this.#isOrdered = false;
  }

  /** A member who is not connected just now, as remembered. */
  noteAbsent(user: string, { name, sinceMs }: Remembered): void {
    if (this.#stays.has(user)) return;
    this.#stays.set(user, { connections: [], name, sinceMs });
    this.#isOrdered = false;
  }

  /**
   * A connection came.
   * @returns since when its user is a member, in milliseconds since 1970
   */
  add(user: string, connection: Connection): number {
    const { name, sinceMs } = connection;
    const known = this.#stays.get(user);
    if (known) {
      known.connections = joined(known.connections, connection);
      return known.sinceMs;
    }
    this.#stays.set(user, { connections: [connection], name, sinceMs });
    // Left and back within one window: neither was sent.
    if (!this.#left.delete(user)) this.#joined.set(user, name);
    this.#changed();
    return sinceMs;
  }

  /** @returns the name and time to remember if that was the last connection: the user stays a member until `end` */
  remove(user: string, socketId: string): Remembered | undefined {
    const stay = this.#stays.get(user);
    const connection = stay?.connections.find((each) => each.socketId === socketId);
    if (!stay || !connection) return undefined;
    stay.name = connection.name;
    stay.connections = stay.connections.filter((each) => each !== connection);
    return stay.connections.length === 0 ? { name: stay.name, sinceMs: stay.sinceMs } : undefined;
  }

  /** A member has left, unless a connection is there after all. */
  end(user: string): void {
    if (this.#stays.get(user)?.connections.length !== 0) return;
    this.#stays.delete(user);
    if (!this.#joined.delete(user)) this.#left.add(user);
    this.#changed([user]);
  }

  /** The room is empty. */
  clear(): void {
    const left = [...this.#stays.keys()];
    this.#stays.clear();
    this.#joined.clear();
    this.#left.clear();
    this.#changed(left);
  }

  /** The name of a member. */
  nameOf(user: string): string | undefined {
    const stay = this.#stays.get(user);
    return stay && toMember(user, stay).name;
  }

  /** Number of a user's sockets. */
  connectionsOf(user: string): number {
    return this.#stays.get(user)?.connections.length ?? 0;
  }

  /** The ids of a user's sockets. */
  socketsOf(user: string): string[] {
    return this.#stays.get(user)?.connections.map(({ socketId }) => socketId) ?? [];
  }

  /**
   * The longest present members, at most `MEMBERS_LISTED_MAX`; the longest comes first.
   * @param find a part of the name or the id, in any case, however its letters are written
   */
  list(find = ""): Member[] {
    if (!this.#isOrdered) this.#order();
    const wanted = folded(find);
    const listed: Member[] = [];
    for (const [user, stay] of this.#stays) {
      if (listed.length === MEMBERS_LISTED_MAX) break;
      const member = toMember(user, stay);
      if (wanted === "" || folded(`${member.name}\n${user}`).includes(wanted)) listed.push(member);
    }
    return listed.sort(byStay);
  }

  #order(): void {
    const ordered = [...this.#stays].sort(([a, { sinceMs: x }], [b, { sinceMs: y }]) => x - y || (a < b ? -1 : 1));
    this.#stays.clear();
    for (const [user, stay] of ordered) this.#stays.set(user, stay);
    this.#isOrdered = true;
  }

  /** Takes the change that waits to be sent to the others. */
  takeChange(): PresenceChange | undefined {
    if (!this.hasChanged) return undefined;
    const joined = this.isLarge ? [] : [...this.#joined].map(([user, name]) => ({ user, name }));
    const left = this.isLarge ? [] : [...this.#left].map((user) => ({ user }));
    this.#joined.clear();
    this.#left.clear();
    this.#hasMoved = false;
    return { count: this.count, joined, left };
  }
}

/** With a further connection, or with the new name of one. */
const joined = (connections: readonly Connection[], connection: Connection): readonly Connection[] =>
  connections.filter(({ socketId }) => socketId !== connection.socketId).concat(connection);

/** A member goes by the name of the oldest connection. */
function toMember(user: string, stay: Stay): Member {
  const { connections, sinceMs: since } = stay;
  const { name } = connections.length > 0 ? connections.reduce((a, b) => (isOlder(a, b) ? a : b)) : stay;
  return { user, name, connections: connections.length, since };
}

const byStay = (a: Member, b: Member): number => a.since - b.since || (a.user < b.user ? -1 : 1);

/** In the same millisecond the ids decide, so that the answer is the same after sleep. */
function isOlder(a: Connection, b: Connection): boolean {
  return a.sinceMs < b.sinceMs || (a.sinceMs === b.sinceMs && a.socketId < b.socketId);
}

/** Wide letters are letters, and one with its accent is the same as the two in a row. */
const folded = (text: string): string => text.normalize("NFKC").toLowerCase();
