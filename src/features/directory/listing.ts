// Reports the room to the lobby (LOB-1 to LOB-4): after each input it compares what the lobby has (lobby-copy.ts) with the room. A
// change of the list may wake the room for a report; failures (MET-2), read marks (DM-4) and the half-hourly repetition wait until
// another event wakes it. Made by index.ts.
import type { Deadline } from "../../clock/deadlines.ts";
import type { ThrottleState } from "../../clock/rates.ts";
import type { Message } from "../../protocol/chat-events.ts";
import type { ReportAnswer, RoomReport } from "../../protocol/room-list.ts";
import { mentionsIn } from "../../protocol/text/mentions.ts";
import { Carried } from "../../chat/room/carried.ts";
import { BatchSender, type Retry } from "../../chat/room/batch-sender.ts";
import { type RoomPart, type MadeChange, Slot } from "../../chat/room/room-part.ts";
import type { Client, Room } from "../../chat/room/room.ts";
import type { ChatBase } from "../../chat/parts.ts";
import { LobbyCopy, type KeptCopy } from "./lobby-copy.ts";
import { Pace } from "./pace.ts";
import { RoomFacts } from "./room-facts.ts";

export type ReportToLobby = (report: RoomReport) => Promise<ReportAnswer>;

/** Outlives the room's sleep on one of its connections. */
interface KeptListing extends KeptCopy {
  readonly throttle: ThrottleState;
  readonly retry: Retry | undefined;
}

/** The parts of the chat that a report is made of. */
type Base = Pick<ChatBase, "direct" | "reading" | "counters" | "reported">;

export class Listing implements RoomPart {
  readonly #room: Room;
  readonly #facts: RoomFacts;
  readonly #chat: Base;
  readonly #sender: BatchSender<RoomReport, ReportAnswer>;
  readonly #carried: Carried<KeptListing>;
  readonly #copy: LobbyCopy;
  readonly #pace: Pace;
  #deadline!: Deadline;
  #awaitedDeadline!: Deadline;
  #unknownDeadline!: Deadline;

  constructor(room: Room, chat: Base, send: ReportToLobby) {
    const { counters, reported } = chat;
    this.#room = room;
    this.#chat = chat;
    this.#facts = new RoomFacts(room, reported);
    this.#carried = new Carried(room, { slot: new Slot("listing"), keyOf: () => "listing", perHolder: 1 });
    const copy = new LobbyCopy(this.#facts);
    this.#copy = copy;
    const pace = new Pace(room, this.#facts, copy);
    this.#pace = pace;
    this.#sender = new BatchSender(room, {
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
        if (this.#sender.failures === 1) room.reportProblem("the report to the lobby failed", error);
      },
      keep: () => this.#keep(),
      schedule: () => this.#setDeadline(),
    });
  }

  start(): void {
    const { deadline, members, now } = this.#room;
    this.#deadline = deadline("lobby", (nowMs) => this.#sender.run(nowMs));
    this.#awaitedDeadline = deadline("lobby-awaited", (nowMs) => this.#sender.run(nowMs), { keepsAwake: true });
    this.#copy.assume(now());
    // LOB-3: no connection has kept the facts that the lobby has.
    const doubt = (): void => {
      if (this.#room.clients.size === 0) this.#copy.doubt();
    };
    this.#unknownDeadline = deadline("lobby-unknown", doubt, { piggybacks: true });
    this.#unknownDeadline.set(now());
    const { direct, reading } = this.#chat;
    if (!direct.isDirect) members.watch((left) => reading.noteJoined(left));
    members.watch(() => (this.#copy.wantsPeople ? this.onReportChanged() : this.#sender.hurry(now())));
  }

  onRestore(client: Client): void {
    for (const kept of this.#carried.restore(client)) {
      this.#pace.restore(kept.throttle);
      this.#copy.restore(kept);
      if (kept.retry) this.#sender.restore(kept.retry);
    }
  }

  onPosted(messages: readonly Message[]): void {
    this.#facts.notePosted(messages);
    this.#sender.hurry(this.#room.now());
  }

  onChanged(made: MadeChange): void {
    // Otherwise a room that falls silent would leave a message in the counts that nobody can read, or a mention that is none.
    if (made.kind === "deleted" || changesMentions(made)) this.onReportChanged();
  }

  onRead(before: number | undefined): void {
    if (this.#copy.noteRead(before, this.#room.now())) this.#keep();
  }

  /** A reader of the room looks at their list of rooms from now on. */
  watched(): void {
    if (this.#room.clients.size === 0) return;
    this.#copy.watch();
    this.#sender.hurry(this.#room.now());
    this.#keep();
  }

  onTurnEnd(): void {
    const nowMs = this.#room.now();
    this.#sender.request(nowMs);
    this.#sender.run(nowMs);
    this.#setDeadline();
    this.#chat.counters.keepThrottled(nowMs);
  }

  onDisconnect(client: Client): void {
    this.#carried.release(client);
  }

  onErase(): undefined {
    this.#sender.stop();
    this.#unknownDeadline.clear();
  }

  onPeopleWanted(): void {
    if (this.#copy.wantsPeople || this.#room.clients.size === 0) return;
    this.#copy.wantPeople();
    this.onReportChanged();
  }

  /** Reports although the facts may be those of the last report. */
  onReportChanged(): void {
    const nowMs = this.#room.now();
    this.#copy.forget();
    this.#sender.drop(nowMs);
    this.#sender.hurry(nowMs);
    this.#keep();
  }

  #setDeadline(): void {
    const { state } = this.#sender;
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
    const delta = this.#chat.counters.take(nowMs);
    this.#copy.takeUnread();
    this.#keep();
    return delta ? { ...report, delta } : report;
  }

  #settle(report: RoomReport, answer: ReportAnswer): undefined {
    this.#chat.counters.arrived();
    this.#unknownDeadline.clear();
    this.#copy.note(report, answer);
    if (answer.refused) this.#chat.reported.onRefused(answer.refused);
  }

  #keep(): void {
    const [throttle, retry] = [this.#pace.state, this.#sender.retry];
    this.#carried.put("listing", { throttle, retry, ...this.#copy.kept });
  }
}

function changesMentions({ kind, posted, change: { edits } }: MadeChange): boolean {
  if (kind !== "edited") return false;
  const [before, after] = [edits.at(-2) ?? posted, edits.at(-1)!].map(({ content }) => mentionsIn(content).toSorted());
  return before!.join("\n") !== after!.join("\n");
}
