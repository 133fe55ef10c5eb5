// The users who look at their lists of rooms, with their rooms (LOB-9): a lobby knows by it which reports somebody waits for. In memory only.
// Called by lobby.ts.
import { RecentMap } from "../../clock/recent-map.ts";
import { eachReader, mentionsOf, readerMark, unreadBy } from "../../protocol/unread.ts";
import type { KeptRoom } from "./kept-room.ts";

/** Users who are remembered. */
const LOOKERS_MAX = 10_000;

/** Requests of one user that wait for a change; one more answers the oldest. */
const WAITING_MAX = 8;

/** From the end of one request of a user who looks to the next, at most. */
const LOOK_AGAIN_MS = 15_000;

/** A room that reported so recently is awake: it sleeps after ten seconds. */
const AWAKE_MS = 8000;

interface Looker {
  readonly rooms: Set<string>;
  readonly waiting: Set<() => void>;
  version: number;
  untilMs: number;
}

export class Looks {
  readonly #lookers = new RecentMap<string, Looker>(LOOKERS_MAX);
  /** When rooms reported last; those of a few seconds count. */
  readonly #heardAtMs = new RecentMap<string, number>(LOOKERS_MAX);
  #version = 0;

  /**
   * A user looks, until `untilMs` and a little longer.
   * @param roomsOf called with the mark of a user whose rooms are not known
   * @returns their rooms, and those of them that are awake where the user did not look until now
   */
  begin(
    user: string,
    { untilMs, nowMs }: { readonly untilMs: number; readonly nowMs: number },
    roomsOf: (mark: string) => Iterable<string>,
  ): { readonly rooms: Set<string>; readonly version: number; readonly unaware: readonly string[] } {
    const mark = readerMark(user);
    const looker = this.#lookers.get(mark) ?? this.#newLooker(roomsOf(mark));
    const isNew = looker.untilMs < nowMs;
    looker.untilMs = Math.max(looker.untilMs, untilMs + LOOK_AGAIN_MS);
    this.#lookers.set(mark, looker);
    const isAwake = (room: string): boolean => nowMs - (this.#heardAtMs.get(room) ?? -Infinity) < AWAKE_MS;
    return { ...looker, unaware: isNew ? [...looker.rooms].filter(isAwake) : [] };
  }

  #newLooker(rooms: Iterable<string>): Looker {
    return { rooms: new Set(rooms), waiting: new Set(), version: ++this.#version, untilMs: -Infinity };
  }

  /** Calls back once, at the next change of the user's list. @returns a function that ends it */
  wait(user: string, changed: () => void): () => void {
    const waiting = this.#lookers.get(readerMark(user))?.waiting ?? new Set();
    const [oldest] = waiting;
    if (oldest && waiting.size >= WAITING_MAX) {
      waiting.delete(oldest);
      oldest();
    }
    waiting.add(changed);
    return () => void waiting.delete(changed);
  }

  heard(room: string, nowMs: number): void {
    this.#heardAtMs.set(room, nowMs);
  }

  /** @returns whether a reader of the room looks */
  isWatched({ unread = "" }: Pick<KeptRoom, "unread">, nowMs: number): boolean {
    for (const mark of eachReader(unread)) if ((this.#lookers.get(mark)?.untilMs ?? -Infinity) >= nowMs) return true;
    return false;
  }

  /** A room is kept otherwise than before, or not at all any more. */
  changed(room: string, before: KeptRoom | undefined, after: KeptRoom | undefined): void {
    if (this.#lookers.size === 0) return;
    const namesOf = (kept: KeptRoom | undefined): string | undefined => kept?.direct?.names?.join("\n") ?? kept?.name;
    const isRenamed = namesOf(before) !== namesOf(after);
    for (const mark of new Set([...eachReader(before?.unread ?? ""), ...eachReader(after?.unread ?? "")])) {
      const looker = this.#lookers.get(mark);
      if (!looker) continue;
      const [was, is] = [before, after].map((kept) => unreadBy(kept?.unread ?? "", mark));
      const [spoke, speaks] = [before, after].map((kept) => mentionsOf(kept?.mentioned ?? "", mark));
      if (is === undefined) looker.rooms.delete(room);
      else looker.rooms.add(room);
      const isSame = was === is && spoke!.mentions === speaks!.mentions && spoke!.mentionSeq === speaks!.mentionSeq;
      if (isSame && !isRenamed) continue;
      looker.version = ++this.#version;
      for (const tell of looker.waiting) tell();
      looker.waiting.clear();
    }
  }
}
