// Passes on to other rooms what is said in this one: RLY-1, RLY-2. A queue or the other room itself takes it; what it
// does not take is tried again, and the log is what remembers it.
import type { Answer } from "../../protocol/chat-events.ts";
import type { LinkInfo, LinkName, Reached, RelayOutcome } from "../../protocol/relay-batch.ts";
import type { LinkTransport } from "../../relay/transport.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { refuse } from "../room/answers.ts";
import { Link, type Collected, type LinkMark } from "./link.ts";
import type { MessageChanges } from "../messages/message-changes.ts";
import type { Feature, KeptChange, Leave, Room } from "../room/room.ts";

/** Who has not answered by then has failed. */
export const RELAY_SEND_MS_MAX = 10_000;
/** Links of one room to others. */
export const LINKS_MAX = 100;

const STATE_KEY = "relay:links";
/** Of links that are gone, when the newest was set: the next is a later one, also where the clock was set back. */
const LINKED_KEY = "relay:linked";

export class Links implements Feature {
  readonly #room: Room;
  readonly #changes: MessageChanges;
  readonly #transport: LinkTransport | undefined;
  readonly #links = new Map<string, Link>();
  /** For what is passed on soon: the room stays awake for it. */
  #soon!: Deadline;
  /** For another try. */
  #later!: Deadline;
  #isStale = false;

  /** @param transport absent: nothing is passed on (RLY-10) */
  constructor(room: Room, changes: MessageChanges, transport: LinkTransport | undefined) {
    this.#room = room;
    this.#changes = changes;
    this.#transport = transport;
  }

  start(): void {
    const { deadline, state } = this.#room;
    this.#soon = deadline("relay", (nowMs) => this.#run(nowMs), { keepsAwake: true });
    this.#later = deadline("relay-later", (nowMs) => this.#run(nowMs));
    for (const mark of (state.get(STATE_KEY) as LinkMark[] | undefined) ?? []) {
      this.#links.set(mark.to, new Link(this.#room, mark));
      this.#changes.raise(mark.rev);
    }
    this.#schedule();
  }

  onPosted(): void {
    this.#schedule();
  }

  onChanging({ isRewrite }: KeptChange): void {
    if (!isRewrite) return;
    for (const link of this.#links.values()) link.noteChange();
    this.#schedule();
  }

  /** RLY-8: with the room go its links. */
  onErase(): Leave | undefined {
    const linkedAtMs = this.#linkedAtMs;
    this.#links.clear();
    this.#schedule();
    return linkedAtMs > 0 ? () => this.#room.state.put(LINKED_KEY, linkedAtMs) : undefined;
  }

  // ---- links -----------------------------------------------------------------------------------------------

  get all(): LinkInfo[] {
    return [...this.#links.values()].map(({ info }) => info);
  }

  /** From now on. One that is there already changes nothing. */
  add(to: string): Answer<object> {
    if (this.#links.has(to)) return { ok: true };
    if (to === this.#room.name) return refuse("FORBIDDEN", "to: a room cannot be linked to itself");
    if (this.#links.size >= LINKS_MAX) return refuse("FORBIDDEN", `A room has at most ${LINKS_MAX} links`);
    // What is open was said before.
    this.#room.commit();
    const linkedAtMs = Math.max(this.#room.now(), this.#linkedAtMs + 1);
    this.#changes.raise(linkedAtMs);
    this.#links.set(to, Link.begin(this.#room, to, linkedAtMs));
    return this.#keep(
      () => this.#write(),
      () => this.#links.delete(to),
    );
  }

  remove(to: string): Answer<object> {
    const link = this.#links.get(to);
    if (!link) return refuse("NOT_FOUND", `to: no link to room ${to}`);
    const linkedAtMs = this.#linkedAtMs;
    this.#links.delete(to);
    const write = (): void => {
      this.#room.state.put(LINKED_KEY, linkedAtMs);
      this.#write();
    };
    return this.#keep(write, () => this.#links.set(to, link));
  }

  /** When the newest link was set that there is or was. */
  get #linkedAtMs(): number {
    const ofGone = (this.#room.state.get(LINKED_KEY) as number | undefined) ?? 0;
    return Math.max(ofGone, ...[...this.#links.values()].map(({ mark }) => mark.linkedAtMs));
  }

  /** RLY-4: the room at the other end misses something; the log still has it. */
  rewind(to: string, name: LinkName, reached: Reached): void {
    const link = this.#links.get(to);
    if (!link?.is(name) || !link.rewind(reached, this.#room.now())) return;
    this.#isStale = true;
    this.#schedule();
  }

  #keep(write: () => void, undo: () => void): Answer<object> {
    try {
      write();
      return { ok: true };
    } catch (error) {
      undo();
      this.#room.report("a link could not be stored", error);
      return refuse("INTERNAL", "The link could not be stored; try again.");
    } finally {
      this.#schedule();
    }
  }

  // ---- when ------------------------------------------------------------------------------------------------

  #schedule(): void {
    if (!this.#transport) return;
    const nowMs = this.#room.now();
    const soonMs = this.#isStale ? [nowMs] : [];
    const laterMs: number[] = [];
    for (const link of this.#links.values()) {
      link.keepTo(nowMs);
      const { retryAtMs } = link.mark;
      if (link.sending) soonMs.push(link.sending.atMs + RELAY_SEND_MS_MAX);
      else if (retryAtMs !== undefined) laterMs.push(retryAtMs);
      else if (link.isBehind) soonMs.push(Math.max(nowMs, link.ranAtMs + this.#transport.windowMs));
    }
    setTo(this.#soon, soonMs);
    setTo(this.#later, laterMs);
  }

  #run(nowMs: number): void {
    if (!this.#transport) return;
    this.#room.catchUp();
    for (const link of this.#links.values()) this.#look(link, this.#transport, nowMs);
    if (this.#isStale) this.#store();
    this.#schedule();
  }

  #look(link: Link, transport: LinkTransport, nowMs: number): void {
    const { sending } = link;
    const { retryAtMs } = link.mark;
    if (sending) {
      if (nowMs >= sending.atMs + RELAY_SEND_MS_MAX)
        this.#fail(link, new Error(`no answer for ${RELAY_SEND_MS_MAX} ms`));
    } else if (
      retryAtMs === undefined ? link.isBehind && nowMs >= link.ranAtMs + transport.windowMs : nowMs >= retryAtMs
    ) {
      this.#pass(link, transport, nowMs);
    }
  }

  // ---- passing on ------------------------------------------------------------------------------------------

  #pass(link: Link, transport: LinkTransport, nowMs: number): void {
    const read = this.#room.read(() => ({ collected: link.collect() }));
    if (!read) return this.#fail(link, new Error("the log could not be read"));
    const { collected } = read;
    link.ranAtMs = link.isBehind ? -Infinity : nowMs;
    if (!collected) {
      this.#isStale = link.pass() || this.#isStale;
      return;
    }
    const sending = (link.sending = { atMs: nowMs });
    const end = (run: () => void): void =>
      this.#room.turn(() => {
        // A try that was given up may end after all; the other side knows what it has.
        if (link.sending !== sending || this.#links.get(link.mark.to) !== link) return;
        run();
        this.#schedule();
      });
    transport.sendBatch(collected.batch).then(
      (outcome) => end(() => (outcome.ok ? this.#settle(link, collected, outcome) : this.#refused(link, outcome))),
      (error: unknown) => end(() => this.#fail(link, error)),
    );
  }

  /** Stored with what else settles at this moment: one row for all links. */
  #settle(link: Link, { batch, sinceMs }: Collected, { isThere }: Extract<RelayOutcome, { ok: true }>): void {
    const { meter, now } = this.#room;
    // What goes by the queue is timed by its consumer.
    if (isThere) meter.observe("relay_lag", Math.max(0, now() - sinceMs) / 1000);
    link.settle(batch);
    this.#isStale = true;
  }

  #refused(link: Link, { reason, reached }: Extract<RelayOutcome, { ok: false }>): void {
    if (!reached || !link.rewind(reached, this.#room.now())) return this.#fail(link, new Error(reason));
    this.#isStale = true;
  }

  #fail(link: Link, error: unknown): void {
    const delayMs = link.fail(this.#room.now());
    this.#isStale = true;
    const { to } = link.mark;
    this.#room.report(`messages could not be passed on to ${to}; next try in ${delayMs / 1000} s`, error);
  }

  #store(): void {
    try {
      this.#write();
    } catch (error) {
      // What is handed over is handed over again then.
      this.#room.report("how far messages were passed on could not be stored", error);
    }
    this.#isStale = false;
  }

  /** @throws whatever the storage throws */
  #write(): void {
    const marks = [...this.#links.values()].map(({ mark }) => mark);
    if (marks.length > 0) this.#room.state.put(STATE_KEY, marks);
    else this.#room.state.delete(STATE_KEY);
    this.#isStale = false;
  }
}

function setTo(deadline: Deadline, momentsMs: readonly number[]): void {
  if (momentsMs.length === 0) deadline.clear();
  else deadline.set(Math.min(...momentsMs));
}
