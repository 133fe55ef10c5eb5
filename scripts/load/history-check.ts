// After the run: is everything that was acked in the rooms' histories, once, at the place that the ack named?
import { LightMember } from "./light-member.ts";
import { findMark } from "./mark.ts";
import type { Span } from "./messages.ts";
import type { RoomIndex } from "./room-index.ts";
import type { JoinError, Observer, ClientSlot, Where } from "./client-slot.ts";

const ROOMS_AT_ONCE = 8;
const PAGE_MESSAGES = 100;
const ASK_MS_MAX = 15_000;
const RETRY_MS = 250;
const JOIN_TRIES = 6;
const JOIN_RETRY_MS = 500;

export interface HistoryVerdict {
  /** Acked, and not in the history at the seq of the ack. */
  readonly ackedAbsent: number;
  readonly messages: number;
  readonly rooms: number;
  /** Rooms whose history could not be read: whether their acked messages are stored is unknown. */
  readonly unread: number;
  /** Why, of one of them. */
  readonly problem?: string;
}

interface Page {
  readonly messages?: ReadonlyArray<{ readonly seq: number; readonly content: string }>;
  readonly hasMore?: boolean;
  readonly error?: { readonly code: string; readonly retryAfterMs?: number };
}

const silent: Observer = {
  delivered: () => undefined,
  entered: () => undefined,
  acked: () => undefined,
  refused: () => undefined,
  dropped: () => undefined,
  returned: () => undefined,
  failed: () => undefined,
  sent: () => undefined,
  beat: () => undefined,
  requested: () => undefined,
};

export interface RoomToCheck {
  /** The member whose place the check takes to read the history: the first one that the room admits. */
  readonly seats: readonly ClientSlot[];
  readonly span: Span;
  readonly index: RoomIndex;
}

export async function checkHistories(
  where: Where,
  run: string,
  rooms: readonly RoomToCheck[],
): Promise<HistoryVerdict> {
  let [ackedAbsent, messages, checked, unread] = [0, 0, 0, 0];
  let problem: string | undefined;
  const waiting = rooms.values();
  const check = async (): Promise<void> => {
    for (const room of waiting) {
      try {
        const verdict = await checkHistory(where, run, room);
        ackedAbsent += verdict.absent;
        messages += verdict.messages;
        checked++;
      } catch (error) {
        unread++;
        problem ??= `${room.seats[0]!.room}: ${(error as Error).message}`;
      }
    }
  };
  await Promise.all(Array.from({ length: ROOMS_AT_ONCE }, check));
  return { ackedAbsent, messages, rooms: checked, unread, ...(problem !== undefined && { problem }) };
}

async function checkHistory(where: Where, run: string, { seats, span, index }: RoomToCheck) {
  const member = await enter(where, seats, run);
  try {
    const stored = await readHistory(member, run, span);
    let absent = 0;
    for (const [seq, code] of index.acked) if (stored.get(seq) !== code) absent++;
    return { absent, messages: stored.size };
  } finally {
    member.leave();
  }
}

/**
 * Tries several tokens, because not every one opens the room. A full room, or an address at its limit of connections, frees the
 * places of closed connections a moment later.
 */
async function enter(where: Where, seats: readonly ClientSlot[], run: string): Promise<LightMember> {
  for (let tries = 1; ; tries++) {
    const member = new LightMember(where, seats[(tries - 1) % seats.length]!, run, silent);
    try {
      await member.join();
      return member;
    } catch (error) {
      const { code, message } = error as JoinError;
      if (tries === JOIN_TRIES) throw new Error(`the room let no reader in: ${code}, ${message}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, JOIN_RETRY_MS));
    }
  }
}

/** @returns the codes of this run's messages by their place */
async function readHistory(member: LightMember, run: string, { baseSeq, lastSeq }: Span): Promise<Map<number, number>> {
  const stored = new Map<number, number>();
  for (let after = baseSeq; after < lastSeq;) {
    const { messages = [], hasMore } = await askPage(member, after);
    for (const { seq, content } of messages) {
      const bytes = Buffer.from(content, "latin1");
      const mark = findMark(run, bytes, 0, bytes.length);
      if (mark) stored.set(seq, mark.code);
    }
    after = messages.at(-1)?.seq ?? lastSeq;
    if (!hasMore) break;
  }
  return stored;
}

async function askPage(member: LightMember, after: number): Promise<Page> {
  const untilMs = Date.now() + ASK_MS_MAX;
  for (;;) {
    const page = await within(member.ask("history", { after, limit: PAGE_MESSAGES }), ASK_MS_MAX);
    if (!page.error) return page;
    if (page.error.code !== "RATE_LIMITED" || Date.now() > untilMs)
      throw new Error(`history was refused: ${page.error.code}`);
    await new Promise((resolve) => setTimeout(resolve, page.error?.retryAfterMs ?? RETRY_MS));
  }
}

function within(answer: Promise<unknown>, waitMs: number): Promise<Page> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no history in ${waitMs} ms`)), waitMs);
    void answer.then((page) => (clearTimeout(timer), resolve(page as Page)));
  });
}
