// Reports the room to the lobby (LOB-1 to LOB-4): after each input it compares what the lobby has (lobby-copy.ts) with the room. A
// change of the list may wake the room for a report; failures (MET-2), read marks (DM-4) and the half-hourly repetition wait until
// another event wakes it. Made by features.ts.
import type { Deadline } from "../../clock/deadlines.ts";
import type { ThrottleState } from "../../clock/rates.ts";
import type { Message } from "../../protocol/chat-events.ts";
import type { RefusedPayers, ReportAnswer, RoomReport } from "../../protocol/room-list.ts";
import { Carried } from "../room/carried.ts";
import { Courier, type Retry } from "../room/courier.ts";
import { type Feature, type MadeChange, Slot } from "../room/feature.ts";
import type { Client, Room } from "../room/room.ts";
import type { Counters } from "./counters.ts";
import { LobbyCopy, type KeptCopy } from "./lobby-copy.ts";
import { Pace } from "./pace.ts";
import { RoomFacts, type FactSources } from "./room-facts.ts";
import type { UnreadCounts } from "./unread-counts.ts";

export type ReportToLobby = (report: RoomReport) => Promise<ReportAnswer>;

/** Outlives the room's sleep on one of its connections. */
interface KeptListing extends KeptCopy {
  readonly throttle: ThrottleState;
  readonly retry: Retry | undefined;
}

interface ListingParts extends FactSources {
  readonly send: ReportToLobby;
  readonly counters: Counters;
  readonly unread: UnreadCounts;
  /** The lobby keeps users out of the room (LIM-8). */
  readonly onRefused: (refused: RefusedPayers) => void;
}

export class Listing implements Feature {
  readonly #room: Room;
  readonly #facts: RoomFacts;
  readonly #counters: Counters;
  readonly #courier: Courier<RoomReport, ReportAnswer>;
  readonly #carried: Carried<KeptListing>;
  readonly #copy: LobbyCopy;
  readonly #onRefused: (refused: RefusedPayers) => void;
  readonly #pace: Pace;
  readonly #unread: UnreadCounts;
  #deadline!: Deadline;
  #awaitedDeadline!: Deadline;
  #unknownDeadline!: Deadline;

  constructor(room: Room, { send, counters, onRefused, ...sources }: ListingParts) {
    this.#room = room;
    this.#onRefused = onRefused;
    this.#unread = sources.unread;
    this.#counters = counters;
    this.#facts = new RoomFacts(room, sources);
    this.#carried = new Carried(room, { slot: new Slot("listing"), keyOf: () => "listing", perHolder: 1 });
    const copy = new LobbyCopy(this.#facts);
    this.#copy = copy;
    const pace = new Pace(room, this.#facts, copy);
    this.#pace = pace;
    this.#courier = new Courier(room, {
      throttle: pace,
      get retryMs() {
        return pace.retryMs;
      },
      isBehind: () => copy.owesListing || counters.isOwed || copy.owesRest(room.now()),
      collect: (nowMs) => ({ batch: this.#report(nowMs) }),
      send,
      settle: (report, answer) => this.#settle(report, answer),
      // Once for a series: while the lobby is away, every room would log it again and again.
      failed: (error) => {
        copy.oweUnread();
        if (this.#courier.failures === 1) room.reportProblem("the report to the lobby failed", error);
      },
      keep: () => this.#keep(),
      schedule: () => this.#setDeadline(),
    });
  }

  start(): void {
    const { deadline, members, now } = this.#room;
    this.#deadline = deadline("lobby", (nowMs) => this.#courier.run(nowMs));
    this.#awaitedDeadline = deadline("lobby-awaited", (nowMs) => this.#courier.run(nowMs), { keepsAwake: true });
    this.#copy.assume(now());
    // LOB-3: no connection has kept the facts that the lobby has.
    const doubt = (): void => {
      if (this.#room.clients.size === 0) this.#copy.doubt();
    };
    this.#unknownDeadline = deadline("lobby-unknown", doubt, { piggybacks: true });
    this.#unknownDeadline.set(now());
    members.watch(() => (this.#copy.wantsPeople ? this.reportAgain() : this.#courier.hurry(now())));
  }

  onRestore(client: Client): void {
    for (const kept of this.#carried.restore(client)) {
      this.#pace.restore(kept.throttle);
      this.#copy.restore(kept);
      if (kept.retry) this.#courier.restore(kept.retry);
    }
  }

  onPosted(messages: readonly Message[]): void {
    this.#facts.notePosted(messages);
    this.#unread.onPosted(messages);
    this.#courier.hurry(this.#room.now());
  }

  onChanged({ kind, posted }: MadeChange): void {
    if (kind !== "deleted") return;
    this.#unread.onDeleted(posted.seq);
    // Otherwise a room that falls silent would leave a message in the counts that nobody can read.
    this.reportAgain();
  }

  /** @param before how far the user had read; absent where they say it again */
  onRead(before: number | undefined): void {
    if (this.#copy.noteRead(before, this.#room.now())) this.#keep();
  }

  /** A reader of the room looks at their list of rooms from now on. */
  watched(): void {
    if (this.#room.clients.size === 0) return;
    this.#copy.watch();
    this.#courier.hurry(this.#room.now());
    this.#keep();
  }

  onTurnEnd(): void {
    const nowMs = this.#room.now();
    this.#courier.request(nowMs);
    this.#courier.run(nowMs);
    this.#setDeadline();
    this.#counters.keepThrottled(nowMs);
  }

  onDisconnect(client: Client): void {
    this.#carried.release(client);
  }

  onErase(): undefined {
    this.#courier.stop();
    this.#unknownDeadline.clear();
  }

  /** The lobby is to know the members from now on. */
  reportPeople(): void {
    if (this.#copy.wantsPeople || this.#room.clients.size === 0) return;
    this.#copy.wantPeople();
    this.reportAgain();
  }

  /** Reports although the facts may be those of the last report: something else has changed. */
  reportAgain(): void {
    const nowMs = this.#room.now();
    this.#copy.forget();
    this.#courier.drop(nowMs);
    this.#courier.hurry(nowMs);
    this.#keep();
  }

  #setDeadline(): void {
    const { state } = this.#courier;
    const isAwaited = state.is === "waiting" && this.#pace.isAwaited;
    if (isAwaited) this.#awaitedDeadline.set(state.atMs);
    else this.#awaitedDeadline.clear();
    const atMs = isAwaited ? undefined : this.#pace.alarmMs(state);
    if (atMs === undefined) this.#deadline.clear();
    else this.#deadline.set(atMs);
  }

  #report(nowMs: number): RoomReport {
    const report = this.#facts.describe(this.#copy.wantsPeople);
    // Until the answer is there the lobby may have either.
    if (this.#copy.owesListing) this.#copy.forget();
    const delta = this.#counters.take(nowMs);
    this.#copy.takeUnread();
    this.#keep();
    return delta ? { ...report, delta } : report;
  }

  #settle(report: RoomReport, answer: ReportAnswer): undefined {
    this.#counters.arrived();
    this.#unknownDeadline.clear();
    this.#copy.note(report, answer);
    if (answer.refused) this.#onRefused(answer.refused);
  }

  #keep(): void {
    const [throttle, retry] = [this.#pace.state, this.#courier.retry];
    this.#carried.put("listing", { throttle, retry, ...this.#copy.kept });
  }
}
