// Finds the copies of messages that began in other rooms, to apply their edits and deletions (RLY-6). Used by relayed.ts.
import { RecentMap } from "../../clock/recent-map.ts";
import { newestSince } from "../../chat/log/message-log.ts";
import type { RelayedChange, Root } from "../../protocol/relay-batch.ts";
import { rootOf } from "../../chat/log/origin.ts";
import type { Room } from "../../chat/room/room.ts";

/** Messages searched for copies, back from the newest. Older copies stay as they are. */
export const COPIES_LOOKED_AT_MAX = 5000;
/** Copies remembered by this instance of the room. */
export const COPIES_REMEMBERED_MAX = 1000;
/** A copy is younger than its message, but the clocks of two rooms may differ by this, in ms. */
const CLOCK_SLACK_MS = 600_000;

/** An erased room uses the same seqs again, in another epoch. */
const keyOf = ({ room, epoch, seq }: Root): string => `${room} ${epoch} ${seq}`;

export class Copies {
  readonly #room: Room;
  /** The seqs of copies by root, the oldest first. */
  readonly #remembered = new RecentMap<string, number>(COPIES_REMEMBERED_MAX);

  constructor(room: Room) {
    this.#room = room;
  }

  note(root: Root, seq: number): void {
    this.#remembered.set(keyOf(root), seq);
  }

  /** @returns a function that gives the seq of the copy that a change is for, if there is one */
  find(changes: readonly RelayedChange[]): (change: RelayedChange) => number | undefined {
    const found = new Map<string, number>();
    const missing = new Set<string>();
    for (const { root } of changes) {
      const key = keyOf(root);
      const seq = this.#remembered.get(key);
      if (seq === undefined) missing.add(key);
      else found.set(key, seq);
    }
    const seqOf = ({ root }: RelayedChange): number | undefined => found.get(keyOf(root));
    if (missing.size === 0) return seqOf;
    const sinceMs = Math.min(...changes.map(({ timestamp }) => timestamp)) - CLOCK_SLACK_MS;
    this.#room.read((log) => {
      let looked = 0;
      for (const { seq, origin } of newestSince(log, sinceMs)) {
        const key = origin && keyOf(rootOf(origin));
        if (key !== undefined && missing.delete(key)) found.set(key, seq);
        if (missing.size === 0 || ++looked === COPIES_LOOKED_AT_MAX) return;
      }
    });
    return seqOf;
  }
}
