// After a run: is everything that was acked or shown in the rooms' histories, once, at the place that was named? Called by run.ts.
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { CODE_OF_OTHERS, type Places, type Span } from "./ledger.ts";
import { LightMember } from "./light-member.ts";
import { markIn } from "./mark.ts";
import type { JoinError, Observer, Seat } from "./member.ts";

const ROOMS_AT_ONCE = 8;
const PAGE_MESSAGES = 100;
const ASK_MS_MAX = 15_000;
const RETRY_MS = 250;
const JOIN_TRIES = 6;
const JOIN_RETRY_MS = 500;

export interface HistoryVerdict {
  /** Acked or shown, and not in the history at that place. */
  readonly absent: number;
  readonly messages: number;
  readonly rooms: number;
  /** Rooms whose history could not be read: whether their messages are stored is unknown. */
  readonly unread: number;
  /** Why, of one of them. */
  readonly problem?: string;
}

interface Page {
  readonly messages?: ReadonlyArray<{ readonly seq: number; readonly content: string }>;
  readonly hasMore?: boolean;
  readonly error?: { readonly code: string; readonly retryAfterMs?: number };
}

interface RoomToCheck {
  /** The members whose place the check takes to read the history: the first one that the room admits. */
  readonly seats: readonly Seat[];
  readonly places: Places;
}

const nothing = (): void => undefined;
const deaf: Observer = {
  delivered: nothing,
  entered: nothing,
  acked: nothing,
  refused: nothing,
  dropped: nothing,
  returned: nothing,
  pinged: nothing,
  failed: nothing,
};

export async function checkHistories(run: string, rooms: readonly RoomToCheck[]): Promise<HistoryVerdict> {
  let [absent, messages, checked, unread] = [0, 0, 0, 0];
  let problem: string | undefined;
  const check = async ({ seats, places }: RoomToCheck): Promise<void> => {
    try {
      const stored = await readHistory(await enter(seats, run), run, places.span);
      absent += places.absentIn(stored);
      messages += [...stored.values()].filter((code) => code !== CODE_OF_OTHERS).length;
      checked++;
    } catch (error) {
      unread++;
      problem ??= `${seats[0]!.room}: ${(error as Error).message}`;
    }
  };
  await Readable.from(rooms).forEach(check, { concurrency: ROOMS_AT_ONCE });
  return { absent, messages, rooms: checked, unread, ...(problem !== undefined && { problem }) };
}

/**
 * Tries several tokens, because not every one opens the room. A full room, or an address at its limit of connections, frees the places of
 * closed connections a moment later.
 */
async function enter(seats: readonly Seat[], run: string): Promise<LightMember> {
  for (let tries = 1; ; tries++) {
    const member = new LightMember({ ...seats[(tries - 1) % seats.length]!, isOwn: false }, run, deaf);
    try {
      await member.join();
      return member;
    } catch (error) {
      const { code, message } = error as JoinError;
      if (tries === JOIN_TRIES) throw new Error(`the room let no reader in: ${code}, ${message}`, { cause: error });
      await sleep(JOIN_RETRY_MS);
    }
  }
}

/** @returns the codes of messages by their place */
async function readHistory(member: LightMember, run: string, { baseSeq, lastSeq }: Span): Promise<Map<number, number>> {
  try {
    const stored = new Map<number, number>();
    for (let after = baseSeq; after < lastSeq;) {
      const { messages = [], hasMore } = await askPage(member, after);
      for (const { seq, content } of messages) stored.set(seq, markIn(run, content)?.code ?? CODE_OF_OTHERS);
      after = messages.at(-1)?.seq ?? lastSeq;
      if (!hasMore) break;
    }
    return stored;
  } finally {
    member.leave();
  }
}

async function askPage(member: LightMember, after: number): Promise<Page> {
  const untilMs = Date.now() + ASK_MS_MAX;
  for (;;) {
    const late = sleep(ASK_MS_MAX, undefined, { ref: false }).then(() => ({ error: { code: "no answer" } }));
    const page = (await Promise.race([member.ask("history", { after, limit: PAGE_MESSAGES }), late])) as Page;
    if (!page.error) return page;
    if (page.error.code !== "RATE_LIMITED" || Date.now() > untilMs)
      throw new Error(`history was refused: ${page.error.code}`);
    await sleep(page.error.retryAfterMs ?? RETRY_MS);
  }
}
