// Telling the lobby how the room is doing: at once after quiet, ever more seldom while it goes on, and once more when it
// falls quiet (LOB-1, LOB-2). A report costs a request; one that is owed waits for whatever wakes the room anyway.
import type { DirectReport } from "../../protocol/direct-room.ts";
import { REPORT_AGAIN_MS, type ReportAnswer, type RoomReport } from "../../protocol/room-list.ts";
import type { Answer, Message } from "../../protocol/chat-events.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { Throttle } from "../../clock/throttle.ts";
import { isKnown, LobbyFacts } from "./lobby-facts.ts";
import type { Members } from "../room/members.ts";
import type { Reply } from "../room/operation.ts";
import { Carried } from "../room/carried.ts";
import type { Feature } from "../room/feature.ts";
import type { Client, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";
import { Unreported, type Reported } from "./unreported.ts";

/**
 * From one report to the next, at least: this long at first, and up to that long in a room that is always busy. Where it is
 * wanted who is there, who came and went is always told after the first (ANN-7).
 */
export const REPORT_WINDOW_MS_MIN = 5000;
export const REPORT_WINDOW_MS_MAX = 60_000;

/** How long an owed report waits for something else to wake the room: the heartbeat of stock clients is sooner. */
export const REPORT_PATIENCE_MS = 45_000;

/**
 * In a room without connections nothing remembers what is owed through a sleep, so it waits awake: for less than an alarm
 * would cost, twice over.
 */
export const REPORT_WINDOW_EMPTY_MS = 1000;

/** That another number is connected is told when this has passed: a reload is nobody's business. */
export const CONNECTIONS_SETTLED_MS = 10_000;

/** A report that failed is tried again after this, and after twice as long each time, up to that. */
export const REPORT_RETRY_MS_MIN = 60_000;
export const REPORT_RETRY_MS_MAX = 3_600_000;

/** The one key of what is kept. */
const KEPT = "";

export type ReportToLobby = (report: RoomReport) => Promise<ReportAnswer>;

export class LobbyReport implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #send: ReportToLobby;
  readonly #unreported: Unreported;
  readonly #facts: LobbyFacts;
  readonly #window = new Throttle(REPORT_WINDOW_MS_MIN, REPORT_WINDOW_MS_MAX);
  /** Of its own, lest who makes trouble holds up what is said. */
  readonly #troubleWindow = new Throttle(REPORT_WINDOW_MS_MIN, REPORT_WINDOW_MS_MAX);
  /** When it is time, it goes along with whatever wakes the room; … */
  #along!: Deadline;
  /** … and if nothing does, it wakes the room. */
  #latest!: Deadline;
  #awake!: Deadline;
  readonly #kept: Carried<Reported>;
  /** What the lobby knows; `undefined` where this life of the room cannot say. */
  #told: RoomReport | undefined;
  /** How many were connected by the latest report; `undefined` where it may not have arrived. */
  #connectionsSaid: number | undefined;
  /** Whether neither this life of the room nor any connection knows what the lobby was told. */
  #isUnknown = true;
  #isOwed = false;
  #wantsPeople = false;
  /** Whether the lobby should know soon: of who came and went where it wants to, and of all in a room between two people. */
  #isUrgent = false;
  /** What is under way: something that the lobby has to hear, or what costs nobody anything if it is late. */
  #sending: "owed" | "idle" | undefined;
  /** Of an erased room the next life speaks. */
  #isOver = false;
  #failures = 0;
  /** When the newest report was made that the lobby has; later than now where the clock was set back since. */
  #heardAtMs = -Infinity;

  /** @param direct whose the room is, where it is between two people */
  constructor(
    room: Room,
    members: Members,
    send: ReportToLobby,
    direct: () => DirectReport | undefined = () => undefined,
  ) {
    this.#facts = new LobbyFacts(room, members, direct);
    this.#room = room;
    this.#members = members;
    this.#send = send;
    this.#unreported = new Unreported(room.meter);
    const slot = new Slot<readonly Reported[]>("lobby");
    this.#kept = new Carried(room, { slot, keyOf: () => KEPT, perHolder: 1 });
  }

  start(): void {
    const { deadline } = this.#room;
    const run = (nowMs: number): void => this.#report(nowMs);
    const ride = (nowMs: number): void => {
      // Where there was a message; a stranger can make any room's clock ring, and LOB-4 ends what is believed of the others.
      this.#isOwed ||= this.#isUnknown && this.#room.log.lastSeq > 0;
      this.#report(nowMs);
    };
    this.#along = deadline("lobby", ride, { rides: true });
    this.#latest = deadline("lobby-owed", run);
    this.#awake = deadline("lobby-awake", run, { keepsAwake: true });
    this.#members.watch(() => {
      this.#isUrgent = this.#wantsPeople;
      this.#change();
    });
    // A room that is woken by its clock, and finds nobody who remembers, cannot know what the lobby believes (LOB-3).
    this.#along.set(this.#room.now());
  }

  onRestore(client: Client): void {
    const [lobby] = this.#kept.restore(client);
    if (!lobby) return;
    this.#isUnknown = false;
    this.#window.restore(lobby);
    this.#isOwed = lobby.isOwed === true;
    this.#connectionsSaid = lobby.connections;
    if (lobby.delta) this.#unreported.restore(lobby.delta);
    this.#wantsPeople = lobby.wantsPeople === true;
    this.#isUrgent = this.#isOwed && (this.#wantsPeople || this.#facts.direct !== undefined);
    if (lobby.failing) {
      this.#failures = lobby.failing.times;
      this.#along.clear();
      this.#retry.set(Math.min(lobby.failing.retryAtMs, this.#room.now() + REPORT_RETRY_MS_MAX));
    } else if (this.#isOwed) this.#waitOccupied(this.#room.now());
    else this.#along.set(lobby.alongAtMs ?? lobby.atMs + REPORT_AGAIN_MS);
  }

  /** Nobody is woken, and nothing written, for what need not be told: a stranger could ask for it. */
  get #retry(): Deadline {
    return this.#isOwed ? this.#latest : this.#along;
  }

  onPosted(messages: readonly Message[]): void {
    this.#facts.noteActivity(messages.at(-1)!.timestamp);
    this.#change();
  }

  /** Where nothing is left to be listed for, the lobby should hear of it (LOB-1). */
  onTrimmed(): void {
    if (this.#facts.noteTrimmed()) this.#change();
  }

  /** DM-4: how far one of two has read goes along with whatever wakes the room: nobody is woken for it. */
  follow(event: string): Reply<Answer<object>> | undefined {
    if (event !== "read" || !this.#facts.direct) return undefined;
    return () => {
      this.#isOwed = true;
      this.#along.set(this.#window.dueMs(this.#room.now()));
      this.#keep();
    };
  }

  onConnect(): void {
    this.#mentionConnections();
  }

  onDisconnect(client: Client): void {
    this.#kept.release(client);
    this.#mentionConnections();
  }

  /** Another tab is news for whoever watches the deployment, and worth no wake. */
  #mentionConnections(): void {
    if (this.#isOver || this.#isOwed || this.#isEmpty) return;
    if (this.#failures === 0) this.#goAlong(this.#room.now());
    this.#keep();
  }

  /** The lobby is to know who is there, from now on. */
  tellPeople(): void {
    if (this.#wantsPeople || this.#isEmpty) return;
    this.#wantsPeople = true;
    this.#isUrgent = true;
    // What it knew of them before it wanted to know does not count.
    this.#told = undefined;
    this.#change();
    this.#keep();
  }

  /** Something has happened that the lobby cannot know of. */
  tell(): void {
    this.#told = undefined;
    this.#isOwed = true;
    this.#settle();
  }

  /**
   * An input was dealt with: what was counted has to outlive a sleep that may follow. Trouble is told (MET-2), but wakes
   * nobody and keeps nobody awake: a stranger can make it in any room, also where nobody is.
   */
  onTurnEnd(): void {
    if (this.#isOver) return;
    const nowMs = this.#room.now();
    // While the lobby is away, it goes along with whatever is tried again.
    const isTime = this.#failures === 0 && this.#window.isOpen(nowMs) && this.#troubleWindow.isOpen(nowMs);
    if (isTime && this.#unreported.hasTrouble) this.#report(nowMs, this.#troubleWindow);
    if (!this.#isEmpty && this.#unreported.isDue(nowMs)) this.#keep();
  }

  /** What was counted and not told yet. */
  get unreported(): ReturnType<Unreported["read"]> {
    return this.#unreported.read();
  }

  onErase(): undefined {
    this.#isOver = true;
    for (const deadline of [this.#along, this.#latest, this.#awake]) deadline.clear();
  }

  #change(): void {
    this.#isOwed = true;
    this.#isUrgent ||= this.#facts.direct !== undefined;
    this.#settle();
  }

  /** Pays what is owed now, or sees to it that it will be paid. */
  #settle(): void {
    if (this.#sending || this.#isOver || !this.#isOwed) return;
    const nowMs = this.#room.now();
    if (this.#mayReport(nowMs)) return this.#report(nowMs);
    if (this.#isEmpty) this.#awake.pull(this.#window.state.atMs + REPORT_WINDOW_EMPTY_MS);
    else this.#waitOccupied(nowMs);
  }

  get #isEmpty(): boolean {
    return this.#room.clients.size === 0;
  }

  #mayReport(nowMs: number): boolean {
    if (this.#isTurn) return true;
    const { atMs } = this.#window.state;
    if (!this.#isEmpty) return this.#window.isOpen(nowMs) || (this.#isUrgent && nowMs >= atMs + REPORT_WINDOW_MS_MIN);
    return nowMs - atMs >= REPORT_WINDOW_EMPTY_MS || nowMs < atMs;
  }

  /** The first one came or the last one went: nobody wants to wait for that, nor stays who would remember to tell it. */
  get #isTurn(): boolean {
    if (this.#failures > 0) return false;
    const isOccupied = this.#members.count > 0;
    return this.#told === undefined ? !isOccupied : this.#told.members > 0 !== isOccupied;
  }

  #waitOccupied(nowMs: number): void {
    const dueMs = this.#window.dueMs(nowMs);
    const latestMs = this.#latest.atMs;
    this.#along.set(dueMs);
    if (this.#isUrgent) this.#latest.pull(Math.max(nowMs, this.#window.state.atMs + REPORT_WINDOW_MS_MIN));
    if (this.#latest.atMs === undefined) this.#latest.set(Math.max(nowMs, dueMs) + REPORT_PATIENCE_MS);
    // A sleep that begins before it is paid forgets what is not kept, however soon it is due.
    if (this.#latest.atMs !== latestMs) this.#keep();
  }

  /** @param window that it passes, if it is sent */
  #report(nowMs: number, window = this.#window): void {
    if (this.#sending) return;
    if (!this.#awaitsRing) this.#along.clear();
    for (const deadline of [this.#latest, this.#awake]) deadline.clear();
    const hasNews = this.#hasNews(nowMs);
    const report = hasNews || this.#isOwed ? this.#describe(nowMs) : undefined;
    if (!report || (!hasNews && isKnown(report, this.#told, this.#wantsPeople))) return this.#rest(nowMs);
    window.pass(nowMs);
    this.#sending = this.#isOwed ? "owed" : "idle";
    this.#isUrgent = false;
    this.#isOwed = false;
    const deltas = this.#unreported.take(nowMs);
    this.#keep();
    void this.#deliver(deltas.length > 0 ? { ...report, deltas } : report);
  }

  #describe(nowMs: number): RoomReport | undefined {
    const report = this.#facts.describe({ wantsPeople: this.#wantsPeople, heardAtMs: this.#heardAtMs });
    // A log that cannot be read is trouble enough: not each input is to try it again, but the next change in its time.
    if (!report) for (const window of [this.#window, this.#troubleWindow]) window.pass(nowMs);
    return report;
  }

  /** Whether there is something to tell, whatever the lobby knows of members and messages. */
  #hasNews(nowMs: number): boolean {
    const { clients } = this.#room;
    return this.#unreported.hasTrouble || clients.size !== this.#connectionsSaid || this.#isOld(nowMs);
  }

  /** Whether the lobby is soon going to doubt what it knows. */
  #isOld(nowMs: number): boolean {
    const { atMs } = this.#window.state;
    return this.#members.count > 0 && (nowMs >= atMs + REPORT_AGAIN_MS || nowMs < atMs);
  }

  async #deliver(report: RoomReport): Promise<void> {
    const { turn } = this.#room;
    try {
      const answer = await this.#send(report);
      turn(() => this.#isOver || this.#succeed(report, answer));
    } catch (error) {
      turn(() => this.#isOver || this.#fail(error));
    }
  }

  #succeed(report: RoomReport, { wantsPeople, overtakenByMs }: ReportAnswer): void {
    this.#sending = undefined;
    this.#isUnknown = false;
    this.#connectionsSaid = report.connections;
    this.#unreported.arrived();
    this.#failures = 0;
    if (overtakenByMs !== undefined) return this.#tellAnew(overtakenByMs);
    this.#told = report;
    if (wantsPeople && !this.#wantsPeople) {
      this.#wantsPeople = true;
      this.#isUrgent = this.#isOwed ||= report.people === undefined && !this.#isEmpty;
    }
    if (this.#isOwed) this.#settle();
    else this.#rest(this.#room.now());
  }

  /** It was the clock that was set back: calls do not overtake each other here, of which there is one at a time. */
  #tellAnew(heardAtMs: number): void {
    this.#heardAtMs = heardAtMs;
    this.#told = undefined;
    this.#isOwed = true;
    this.#report(this.#room.now());
  }

  /** The room goes on as if nothing had happened; its next change tries again, or a deadline does. */
  #fail(error: unknown): void {
    this.#isOwed ||= this.#sending === "owed";
    this.#sending = undefined;
    this.#connectionsSaid = undefined;
    this.#told = undefined;
    // Once for a series: while the lobby is away, every room would say so again and again.
    if (this.#failures++ === 0) this.#room.report("the lobby could not be told", error);
    if (!this.#awaitsRing) this.#retry.set(this.#room.now() + this.#retryMs);
    this.#keep();
  }

  /** A clock that an earlier life set may ring yet, and is to find that something is owed; nothing else is, so far. */
  get #awaitsRing(): boolean {
    return this.#isUnknown && this.#isEmpty && !this.#isOwed;
  }

  get #retryMs(): number {
    // Where nobody is, nobody remembers how often it failed.
    if (this.#isUnknown && this.#isEmpty) return REPORT_AGAIN_MS;
    // Who is waited for is to be found soon after the lobby is back.
    const firstMs = this.#wantsPeople ? REPORT_WINDOW_MS_MIN : REPORT_RETRY_MS_MIN;
    return Math.min(REPORT_RETRY_MS_MAX, firstMs * 2 ** (this.#failures - 1));
  }

  /** Nothing is owed. */
  #rest(nowMs: number): void {
    this.#isOwed = false;
    this.#goAlong(nowMs);
    this.#keep();
  }

  /** Sees again whether there is something to tell, with whatever wakes the room then. */
  #goAlong(nowMs: number): void {
    if (this.#isEmpty) return this.#along.clear();
    const dueMs = this.#window.dueMs(nowMs);
    const againMs = Math.min(this.#window.state.atMs, nowMs) + REPORT_AGAIN_MS;
    if (this.#room.clients.size === this.#connectionsSaid) this.#along.set(Math.max(againMs, dueMs));
    else this.#along.pull(Math.max(nowMs + CONNECTIONS_SETTLED_MS, dueMs));
  }

  /** What outlives a sleep. While a report is under way it may yet be lost. */
  #keep(): void {
    if (this.#isEmpty) return;
    const isOwed = this.#isOwed || this.#sending === "owed";
    const alongAtMs = this.#sending ? this.#room.now() : this.#along.atMs;
    const retryAtMs = this.#retry.atMs;
    const failing = this.#failures > 0 && retryAtMs !== undefined && { times: this.#failures, retryAtMs };
    const connections = this.#sending ? undefined : this.#connectionsSaid;
    const delta = this.#unreported.record();
    const lobby: Reported = {
      ...this.#window.state,
      ...(isOwed && { isOwed }),
      ...(failing && { failing }),
      ...(!isOwed && alongAtMs !== undefined && { alongAtMs }),
      ...(connections !== undefined && { connections }),
      ...(this.#wantsPeople && { wantsPeople: true }),
      ...(delta && { delta }),
    };
    this.#kept.put(KEPT, lobby);
  }
}
