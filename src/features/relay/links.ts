// Passes messages and changes of the room on to linked rooms, with one sender per link (RLY-1, RLY-2). It reads the
// messages left to pass on from the log, behind a stored mark per link, so no messages wait in memory.
import { Throttle } from "../../clock/rates.ts";
import type { Answer } from "../../protocol/chat-events.ts";
import type { LinkInfo, LinkName, Reached, RelayOutcome } from "../../protocol/relay-batch.ts";
import type { LinkTransport } from "../../relay/transport.ts";
import { BatchSender, SenderClock, type Due, type Retry } from "../../chat/room/batch-sender.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { RoomPart, KeptChange, StoreAfterErase } from "../../chat/room/room-part.ts";
import type { Room } from "../../chat/room/room.ts";
import { Link, type LinkMark, type OutgoingBatch } from "./link.ts";

/** A call without an answer has failed after this. */
export const RELAY_SEND_MS_MAX = 10_000;
/** Doubled with each further failure. */
export const RELAY_RETRY_MS = { first: 1000, max: 300_000 };
/** Links of one room to others. */
export const LINKS_MAX = 100;

const STATE_KEY = "relay:links";
/** The time of the newest link that was removed: the next link is later, also where the clock was set back. */
const LINKED_KEY = "relay:linked";

interface StoredLink extends LinkMark {
  readonly retry?: Retry | undefined;
}

interface Entry {
  readonly link: Link;
  readonly sender: BatchSender<OutgoingBatch, RelayOutcome>;
}

/** The numbering of changes (MessageChanges). */
interface Revs {
  /** From now on changes have higher numbers than this. */
  raise(rev: number): void;
}

export class Links implements RoomPart {
  readonly #room: Room;
  readonly #revs: Revs;
  readonly #transport: LinkTransport | undefined;
  readonly #entries = new Map<string, Entry>();
  #clock!: SenderClock;
  /** Whether a mark is to be stored: soon, in one row with those of all links that settle by then. */
  #isUnsaved = false;

  /** @param transport absent: nothing is passed on (RLY-10) */
  constructor(room: Room, revs: Revs, transport: LinkTransport | undefined) {
    this.#room = room;
    this.#revs = revs;
    this.#transport = transport;
  }

  start(): void {
    const dues = (): Due[] => [
      ...Array.from(this.#entries.values(), ({ sender }) => sender),
      { dueMs: this.#isUnsaved ? this.#room.now() : undefined, maySleep: false },
    ];
    this.#clock = new SenderClock(this.#room, "relay", dues, (nowMs) => this.#run(nowMs));
    const stored = (this.#room.state.get(STATE_KEY) as StoredLink[] | undefined) ?? [];
    for (const { retry, ...mark } of stored) {
      const sender = this.#add(new Link(this.#room, mark));
      if (retry) sender.restore(retry);
      this.#revs.raise(mark.rev);
    }
    this.#request();
  }

  onPosted(): void {
    this.#request();
  }

  onChanging({ isRewrite }: KeptChange): void {
    if (!isRewrite) return;
    for (const { link } of this.#entries.values()) link.noteChange();
    this.#request();
  }

  /** RLY-8: the links of a room end with it. */
  onErase(): StoreAfterErase | undefined {
    const linkedAtMs = this.#linkedAtMs;
    for (const { sender } of this.#entries.values()) sender.stop();
    this.#entries.clear();
    this.#request();
    return linkedAtMs > 0 ? () => this.#room.state.put(LINKED_KEY, linkedAtMs) : undefined;
  }

  // ---- links -----------------------------------------------------------------------------------------------

  get all(): LinkInfo[] {
    return Array.from(this.#entries.values(), ({ link, sender }) => ({ ...link.info, failures: sender.failures }));
  }

  /** Passes on messages that are posted from now on. A link that exists already does not change. */
  add(to: string): Answer<object> {
    if (this.#entries.has(to)) return { ok: true };
    if (to === this.#room.name) return refuse("FORBIDDEN", "to: a room cannot be linked to itself");
    if (this.#entries.size >= LINKS_MAX) return refuse("FORBIDDEN", `A room has at most ${LINKS_MAX} links`);
    // An open batch was posted before.
    this.#room.finishPosts();
    const linkedAtMs = Math.max(this.#room.now(), this.#linkedAtMs + 1);
    this.#revs.raise(linkedAtMs);
    this.#add(Link.begin(this.#room, to, linkedAtMs));
    const answer = this.#keep(() => {
      // Names the log: the other room knows the link by that name too, so a backup with the link must have it (RLY-3).
      void this.#room.log.epoch;
      this.#write();
    });
    if ("error" in answer) this.#entries.delete(to);
    this.#request();
    return answer;
  }

  remove(to: string): Answer<object> {
    const entry = this.#entries.get(to);
    if (!entry) return refuse("NOT_FOUND", `to: no link to room ${to}`);
    const linkedAtMs = this.#linkedAtMs;
    this.#entries.delete(to);
    const answer = this.#keep(() => {
      this.#room.state.put(LINKED_KEY, linkedAtMs);
      this.#write();
    });
    if ("error" in answer) this.#entries.set(to, entry);
    else entry.sender.stop();
    this.#request();
    return answer;
  }

  /** The time of the newest link, removed ones included. */
  get #linkedAtMs(): number {
    const ofGone = (this.#room.state.get(LINKED_KEY) as number | undefined) ?? 0;
    return Math.max(ofGone, ...Array.from(this.#entries.values(), ({ link }) => link.mark.linkedAtMs));
  }

  /** RLY-4: sends messages again that the other room misses. */
  rewind(to: string, name: LinkName, reached: Reached): void {
    const nowMs = this.#room.now();
    const entry = this.#entries.get(to);
    if (!entry?.link.is(name) || !entry.link.rewind(reached, nowMs)) return;
    this.#isUnsaved = true;
    entry.sender.drop(nowMs);
    this.#request();
  }

  #keep(write: () => void): Answer<object> {
    try {
      write();
      return { ok: true };
    } catch (error) {
      this.#room.reportProblem("a link could not be stored", error);
      return refuse("INTERNAL", "The link could not be stored; try again.");
    }
  }

  // ---- passing on ------------------------------------------------------------------------------------------

  #request(): void {
    if (!this.#transport) return;
    const nowMs = this.#room.now();
    for (const { sender } of this.#entries.values()) sender.request(nowMs);
    this.#clock.set();
  }

  #run(nowMs: number): void {
    if (!this.#transport) return;
    this.#room.catchUp();
    for (const { sender } of this.#entries.values()) sender.run(nowMs);
    if (!this.#isUnsaved) return;
    try {
      this.#write();
    } catch (error) {
      // The same batches are sent again after the next start, and are known there.
      this.#room.reportProblem("how far messages were passed on could not be stored", error);
      this.#isUnsaved = false;
    }
    this.#clock.set();
  }

  #add(link: Link): BatchSender<OutgoingBatch, RelayOutcome> {
    const { meter, now, read, reportProblem } = this.#room;
    const sender = new BatchSender<OutgoingBatch, RelayOutcome>(this.#room, {
      throttle: new Throttle(this.#transport?.windowMs ?? 0),
      retryMs: RELAY_RETRY_MS,
      timeoutMs: RELAY_SEND_MS_MAX,
      isBehind: () => link.isBehind,
      collect: () => {
        const collected = read(() => ({ batch: link.collect() }));
        if (!collected) throw new Error("the log could not be read");
        if (!collected.batch && link.pass()) this.#isUnsaved = true;
        return { ...collected, isFull: link.isBehind };
      },
      send: ({ batch }) => this.#transport!.sendBatch(batch),
      settle: ({ batch, sinceMs }, outcome) => {
        if (!outcome.ok) return outcome.reached && link.rewind(outcome.reached, now()) ? undefined : outcome.reason;
        // The queue's consumer measures batches that take the queue.
        if (outcome.isThere) meter.observe("relay_lag", Math.max(0, now() - sinceMs) / 1000);
        link.settle(batch);
        return undefined;
      },
      failed: (error, waitMs) => {
        link.fail();
        reportProblem(`messages could not be passed on to ${link.mark.to}; next try in ${waitMs / 1000} s`, error);
      },
      keep: () => (this.#isUnsaved = true),
      schedule: () => this.#transport && this.#clock.set(),
    });
    this.#entries.set(link.mark.to, { link, sender });
    return sender;
  }

  /** @throws errors of the storage */
  #write(): void {
    const stored = Array.from(this.#entries.values(), ({ link, sender }): StoredLink => ({
      ...link.mark,
      retry: sender.retry,
    }));
    if (stored.length > 0) this.#room.state.put(STATE_KEY, stored);
    else this.#room.state.delete(STATE_KEY);
    this.#isUnsaved = false;
  }
}
