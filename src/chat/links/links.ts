// Passes messages and changes of the room on to the rooms that it is linked to, with one courier per link (RLY-1, RLY-2). The log and
// a stored mark per link say what is left to pass on, so nothing waits in memory.
import { Throttle } from "../../clock/throttle.ts";
import type { Answer } from "../../protocol/chat-events.ts";
import type { LinkInfo, LinkName, Reached, RelayOutcome } from "../../protocol/relay-batch.ts";
import type { LinkTransport } from "../../relay/transport.ts";
import { Courier, CourierClock, type Collected, type Retry } from "../room/courier.ts";
import { refuse } from "../room/answers.ts";
import type { Feature, KeptChange, StoreAfterErase } from "../room/feature.ts";
import type { Room } from "../room/room.ts";
import { Link, type LinkMark, type Parcel } from "./link.ts";

/** A call without an answer has failed after this. */
export const RELAY_SEND_MS_MAX = 10_000;
/** Doubled with each further failure. */
export const RELAY_RETRY_MS = { first: 1000, max: 300_000 };
/** Links of one room to others. */
export const LINKS_MAX = 100;

const STATE_KEY = "relay:links";
/** When the newest of the links that are gone was set: the next one is later, also where the clock was set back. */
const LINKED_KEY = "relay:linked";

interface StoredLink extends LinkMark {
  readonly retry?: Retry | undefined;
}

interface Entry {
  readonly link: Link;
  readonly courier: Courier<Parcel, RelayOutcome>;
}

/** The numbering of changes (MessageChanges). */
interface Revs {
  /** From now on changes have higher numbers than this. */
  raise(rev: number): void;
}

export class Links implements Feature {
  readonly #room: Room;
  readonly #revs: Revs;
  readonly #transport: LinkTransport | undefined;
  readonly #entries = new Map<string, Entry>();
  #clock!: CourierClock;
  #isUnsaved = false;
  /** Whether the deadlines are set later, once for all couriers. */
  #isHeld = false;

  /** @param transport absent: nothing is passed on (RLY-10) */
  constructor(room: Room, revs: Revs, transport: LinkTransport | undefined) {
    this.#room = room;
    this.#revs = revs;
    this.#transport = transport;
  }

  start(): void {
    const run = (nowMs: number): void => this.#run(nowMs);
    this.#clock = new CourierClock(this.#room, "relay", () => this.#due(), run);
    const stored = (this.#room.state.get(STATE_KEY) as StoredLink[] | undefined) ?? [];
    this.#once(() => {
      for (const { retry, ...mark } of stored) {
        const courier = this.#add(new Link(this.#room, mark));
        if (retry) courier.restore(retry);
        this.#revs.raise(mark.rev);
      }
    });
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
    for (const { courier } of this.#entries.values()) courier.stop();
    this.#entries.clear();
    this.#request();
    return linkedAtMs > 0 ? () => this.#room.state.put(LINKED_KEY, linkedAtMs) : undefined;
  }

  // ---- links -----------------------------------------------------------------------------------------------

  get all(): LinkInfo[] {
    return Array.from(this.#entries.values(), ({ link, courier }) => ({ ...link.info, failures: courier.failures }));
  }

  /** Passes on what is posted from now on. A link that is there already does not change. */
  add(to: string): Answer<object> {
    if (this.#entries.has(to)) return { ok: true };
    if (to === this.#room.name) return refuse("FORBIDDEN", "to: a room cannot be linked to itself");
    if (this.#entries.size >= LINKS_MAX) return refuse("FORBIDDEN", `A room has at most ${LINKS_MAX} links`);
    // An open batch was posted before.
    this.#room.commit();
    const linkedAtMs = Math.max(this.#room.now(), this.#linkedAtMs + 1);
    this.#revs.raise(linkedAtMs);
    this.#add(Link.begin(this.#room, to, linkedAtMs));
    const answer = this.#keep(() => this.#write());
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
    else entry.courier.stop();
    this.#request();
    return answer;
  }

  #add(link: Link): Courier<Parcel, RelayOutcome> {
    const courier = this.#courierOf(link);
    this.#entries.set(link.mark.to, { link, courier });
    return courier;
  }

  /** When the newest link was set, those that are gone included. */
  get #linkedAtMs(): number {
    const ofGone = (this.#room.state.get(LINKED_KEY) as number | undefined) ?? 0;
    return Math.max(ofGone, ...Array.from(this.#entries.values(), ({ link }) => link.mark.linkedAtMs));
  }

  /** RLY-4: sends again from the log what the room at the other end misses. */
  rewind(to: string, name: LinkName, reached: Reached): void {
    const nowMs = this.#room.now();
    const entry = this.#entries.get(to);
    if (!entry?.link.is(name) || !entry.link.rewind(reached, nowMs)) return;
    this.#isUnsaved = true;
    entry.courier.drop(nowMs);
    this.#request();
  }

  #keep(write: () => void): Answer<object> {
    try {
      write();
      return { ok: true };
    } catch (error) {
      this.#room.report("a link could not be stored", error);
      return refuse("INTERNAL", "The link could not be stored; try again.");
    }
  }

  // ---- when ------------------------------------------------------------------------------------------------

  #request(): void {
    const nowMs = this.#room.now();
    this.#once(() => {
      if (this.#transport) for (const { courier } of this.#entries.values()) courier.request(nowMs);
    });
  }

  #run(nowMs: number): void {
    if (!this.#transport) return;
    this.#room.catchUp();
    this.#once(() => {
      for (const { courier } of this.#entries.values()) courier.run(nowMs);
      if (this.#isUnsaved) this.#store();
    });
  }

  /** Sets the deadlines once for all that `work` does. */
  #once(work: () => void): void {
    this.#isHeld = true;
    try {
      work();
    } finally {
      this.#isHeld = false;
      this.#schedule();
    }
  }

  #schedule(): void {
    if (this.#transport && !this.#isHeld) this.#clock.set();
  }

  /** Couriers; and the marks, which are stored soon: one row for all links that settle by then. */
  *#due(): Iterable<Pick<Courier, "state" | "dueMs">> {
    for (const { courier } of this.#entries.values()) yield courier;
    const dueMs = this.#room.now();
    if (this.#isUnsaved) yield { state: { is: "waiting", atMs: dueMs }, dueMs };
  }

  // ---- passing on ------------------------------------------------------------------------------------------

  #courierOf(link: Link): Courier<Parcel, RelayOutcome> {
    const { report } = this.#room;
    return new Courier(this.#room, {
      throttle: new Throttle(this.#transport?.windowMs ?? 0),
      retryMs: RELAY_RETRY_MS,
      timeoutMs: RELAY_SEND_MS_MAX,
      isBehind: () => link.isBehind,
      collect: () => this.#collect(link),
      send: ({ batch }) => this.#transport!.sendBatch(batch),
      settle: (parcel, outcome) => this.#settle(link, parcel, outcome),
      failed: (error, waitMs) => {
        link.fail();
        report(`messages could not be passed on to ${link.mark.to}; next try in ${waitMs / 1000} s`, error);
      },
      keep: () => (this.#isUnsaved = true),
      schedule: () => this.#schedule(),
    });
  }

  #collect(link: Link): Collected<Parcel> {
    const read = this.#room.read(() => ({ parcel: link.collect() }));
    if (!read) throw new Error("the log could not be read");
    if (!read.parcel && link.pass()) this.#isUnsaved = true;
    return { parcel: read.parcel, isFull: link.isBehind };
  }

  #settle(link: Link, { batch, sinceMs }: Parcel, outcome: RelayOutcome): string | undefined {
    const { meter, now } = this.#room;
    if (!outcome.ok) return outcome.reached && link.rewind(outcome.reached, now()) ? undefined : outcome.reason;
    // The queue's consumer measures batches that take the queue.
    if (outcome.isThere) meter.observe("relay_lag", Math.max(0, now() - sinceMs) / 1000);
    link.settle(batch);
    return undefined;
  }

  #store(): void {
    try {
      this.#write();
    } catch (error) {
      // The next life of the room sends the same batches again.
      this.#room.report("how far messages were passed on could not be stored", error);
      this.#isUnsaved = false;
    }
  }

  /** @throws whatever the storage throws */
  #write(): void {
    const stored = Array.from(this.#entries.values(), ({ link, courier }): StoredLink => ({
      ...link.mark,
      retry: courier.retry,
    }));
    if (stored.length > 0) this.#room.state.put(STATE_KEY, stored);
    else this.#room.state.delete(STATE_KEY);
    this.#isUnsaved = false;
  }
}
