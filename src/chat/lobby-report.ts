// Telling the lobby how the room is doing: at once after quiet, ever more seldom while it goes on, and once more when it
// falls quiet (LOB-1, LOB-2). A report costs a request; one that is owed waits for whatever wakes the room anyway.
import type { DirectReport } from "../protocol/direct-room.ts";
import { marksOf } from "../protocol/people-marks.ts";
import type { ReportAnswer, RoomReport } from "../protocol/room-list.ts";
import type { Answer, Message } from "../protocol/chat-events.ts";
import type { Deadline } from "../socketio/deadlines.ts";
import { GrowingWindow, type WindowState } from "../socketio/growing-window.ts";
import type { Members } from "./members.ts";
import type { Reply } from "./operation.ts";
import type { Client, Feature, Room } from "./room.ts";
import { Unreported, type KeptTally } from "./unreported.ts";

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

/** How many are connected is told when it has been so for this long: a reload is nobody's business. */
export const CONNECTIONS_SETTLED_MS = 10_000;

/** An occupied room says so again when it wakes after this. */
export const REPORT_AGAIN_MS = 30 * 60_000;

/** LOB-4: even a room that is woken twice an hour says so again before this is over, twice. */
export const REPORT_BELIEVED_MS = 150 * 60_000;

/** A report that failed is tried again after this, and after twice as long each time, up to that. */
export const REPORT_RETRY_MS_MIN = 60_000;
export const REPORT_RETRY_MS_MAX = 3_600_000;

/** So few are told unasked: they make a report no larger than it is. */
const PEOPLE_UNASKED_MAX = 4;

export type ReportToLobby = (report: RoomReport) => Promise<ReportAnswer>;

/** What is remembered through sleep, on one of the connections: it costs no row. */
export interface Reported extends WindowState {
  /** Whether something has changed since. */
  readonly isOwed?: true;
  /** How many were connected by the latest report. */
  readonly connections?: number;
  /** When to see whether there is something to tell, where nothing is owed: milliseconds since 1970. */
  readonly alongAtMs?: number;
  readonly tally?: KeptTally;
  /** Whether the lobby wants to know who is there. */
  readonly wantsPeople?: true;
}

export class LobbyReport implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #send: ReportToLobby;
  readonly #unreported: Unreported;
  readonly #direct: () => DirectReport | undefined;
  readonly #window = new GrowingWindow({ minMs: REPORT_WINDOW_MS_MIN, maxMs: REPORT_WINDOW_MS_MAX });
  /** When it is time, it goes along with whatever wakes the room; … */
  #along!: Deadline;
  /** … and if nothing does, it wakes the room. */
  #latest!: Deadline;
  #awake!: Deadline;
  #carrier: Client | undefined;
  /** What the lobby knows; `undefined` where this life of the room cannot say. */
  #told: RoomReport | undefined;
  /** How many were connected by the latest report, whether or not it has arrived. */
  #connectionsSaid: number | undefined;
  #isOwed = false;
  #wantsPeople = false;
  /** Whether the lobby should know soon: of who came and went where it wants to, and of all in a room between two people. */
  #isUrgent = false;
  #isSending = false;
  /** Of an erased room the next life speaks. */
  #isOver = false;
  #failures = 0;
  /** When the newest report was made that the lobby has; later than now where the clock was set back since. */
  #heardAtMs = -Infinity;
  /** Of the newest message; `undefined` until it is looked up. */
  #lastActivity: number | null | undefined;

  /** @param direct whose the room is, where it is between two people */
  constructor(
    room: Room,
    members: Members,
    send: ReportToLobby,
    direct: () => DirectReport | undefined = () => undefined,
  ) {
    this.#direct = direct;
    this.#room = room;
    this.#members = members;
    this.#send = send;
    this.#unreported = new Unreported(room.meter);
  }

  start(): void {
    const { deadline } = this.#room;
    const run = (nowMs: number): void => this.#report(nowMs);
    this.#along = deadline("lobby", run, { rides: true });
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
    const { lobby } = client.peek();
    if (!lobby) return;
    this.#carrier = client;
    this.#window.restore(lobby);
    this.#isOwed = lobby.isOwed === true;
    this.#connectionsSaid = lobby.connections;
    if (lobby.tally) this.#unreported.restore(lobby.tally);
    this.#wantsPeople = lobby.wantsPeople === true;
    this.#isUrgent = this.#isOwed && (this.#wantsPeople || this.#direct() !== undefined);
    if (this.#isOwed) this.#waitOccupied(this.#room.now());
    else this.#along.set(lobby.alongAtMs ?? lobby.atMs + REPORT_AGAIN_MS);
  }

  onPosted(messages: readonly Message[]): void {
    this.#lastActivity = messages.at(-1)!.timestamp;
    this.#change();
  }

  /** Where nothing is left to be listed for, the lobby should hear of it (LOB-1). */
  onTrimmed(): void {
    const { firstSeq, lastSeq } = this.#room.log;
    if (firstSeq <= lastSeq || lastSeq === 0 || this.#lastActivity === null) return;
    this.#lastActivity = null;
    this.#change();
  }

  /** DM-4: how far one of two has read goes along with whatever wakes the room: nobody is woken for it. */
  follow(event: string): Reply<Answer<object>> | undefined {
    if (event !== "read" || !this.#direct()) return undefined;
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
    if (client === this.#carrier) this.#keep();
    this.#mentionConnections();
  }

  /** Another tab is news for whoever watches the deployment, and worth no wake. */
  #mentionConnections(): void {
    if (this.#isOver || this.#isOwed || this.#isSending || this.#isEmpty) return;
    this.#goAlong(this.#room.now());
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
  noteCounted(): void {
    if (this.#isOver) return;
    const nowMs = this.#room.now();
    if (this.#unreported.hasTrouble && !this.#isOwed && this.#window.isOpen(nowMs)) this.#report(nowMs);
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
    this.#isUrgent ||= this.#direct() !== undefined;
    this.#settle();
  }

  /** Pays what is owed now, or sees to it that it will be paid. */
  #settle(): void {
    if (this.#isSending || this.#isOver || !this.#isOwed) return;
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

  #report(nowMs: number): void {
    if (this.#isSending) return;
    for (const deadline of [this.#along, this.#latest, this.#awake]) deadline.clear();
    const hasNews = this.#hasNews(nowMs);
    const report = hasNews || this.#isOwed ? this.#describe() : undefined;
    if (!report || (!hasNews && this.#isKnown(report))) return this.#rest(nowMs);
    this.#window.pass(nowMs);
    this.#isUrgent = false;
    this.#isOwed = false;
    this.#isSending = true;
    this.#connectionsSaid = report.connections;
    const tallies = this.#unreported.take(nowMs);
    this.#keep();
    void this.#deliver(tallies.length > 0 ? { ...report, tallies } : report);
  }

  #describe(): RoomReport | undefined {
    const { name, seenSeq, read, now } = this.#room;
    const lastActivity = (this.#lastActivity ??= read((log) => log.page({ limit: 1 }).messages[0]?.timestamp ?? null));
    // A log that cannot be read is trouble enough: not each input is to try it again, but the next change in its time.
    if (lastActivity === undefined) {
      this.#window.pass(now());
      return undefined;
    }
    const members = this.#members.count;
    const direct = this.#direct();
    return {
      room: name,
      members,
      connections: this.#room.clients.size,
      lastSeq: seenSeq(),
      lastActivity,
      believedMs: REPORT_BELIEVED_MS,
      madeAtMs: Math.max(now(), this.#heardAtMs),
      ...(direct && { direct }),
      ...(this.#showsPeople && { people: marksOf([...this.#members.all()].map(({ user }) => user)) }),
    };
  }

  get #showsPeople(): boolean {
    return this.#wantsPeople || this.#members.count <= PEOPLE_UNASKED_MAX;
  }

  /** Whether there is something to tell, whatever the lobby knows of members and messages. */
  #hasNews(nowMs: number): boolean {
    const { clients } = this.#room;
    return this.#unreported.hasTrouble || clients.size !== this.#connectionsSaid || this.#isOld(nowMs);
  }

  #isKnown({ members, lastSeq, lastActivity, people, direct }: RoomReport): boolean {
    const told = this.#told;
    if (told?.direct?.read.join() !== direct?.read.join()) return false;
    if (this.#wantsPeople && told?.people !== people) return false;
    return told?.members === members && told.lastSeq === lastSeq && told.lastActivity === lastActivity;
  }

  /** Whether the lobby is soon going to doubt what it knows. */
  #isOld(nowMs: number): boolean {
    return this.#members.count > 0 && nowMs - this.#window.state.atMs >= REPORT_AGAIN_MS;
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
    this.#isSending = false;
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
    this.#isSending = false;
    this.#isOwed = true;
    this.#told = undefined;
    // Once for a series: while the lobby is away, every room would say so again and again.
    if (this.#failures++ === 0) this.#room.report("the lobby could not be told", error);
    // Who is waited for is to be found soon after the lobby is back.
    const firstMs = this.#wantsPeople ? REPORT_WINDOW_MS_MIN : REPORT_RETRY_MS_MIN;
    const waitMs = Math.min(REPORT_RETRY_MS_MAX, firstMs * 2 ** (this.#failures - 1));
    this.#latest.set(this.#room.now() + waitMs);
    this.#keep();
  }

  /** Nothing is owed. */
  #rest(nowMs: number): void {
    this.#isOwed = false;
    this.#goAlong(nowMs);
    this.#keep();
  }

  /** Sees again whether there is something to tell, with whatever wakes the room then. */
  #goAlong(nowMs: number): void {
    const dueMs = this.#window.dueMs(nowMs);
    if (this.#isEmpty) return;
    const againMs = Math.min(this.#window.state.atMs, nowMs) + REPORT_AGAIN_MS;
    if (this.#room.clients.size === this.#connectionsSaid) this.#along.set(Math.max(againMs, dueMs));
    else this.#along.pull(Math.max(nowMs + CONNECTIONS_SETTLED_MS, dueMs));
  }

  /** What outlives a sleep. While a report is under way it may yet be lost. */
  #keep(): void {
    const { clients } = this.#room;
    const isStillThere = this.#carrier && clients.get(this.#carrier.id) === this.#carrier;
    if (!isStillThere) [this.#carrier] = clients.values();
    if (!this.#carrier) return;
    const isOwed = this.#isOwed || this.#isSending;
    const { atMs: alongAtMs } = this.#along;
    const connections = this.#connectionsSaid;
    const tally = this.#unreported.record();
    const lobby: Reported = {
      ...this.#window.state,
      ...(isOwed && { isOwed }),
      ...(!isOwed && alongAtMs !== undefined && { alongAtMs }),
      ...(connections !== undefined && { connections }),
      ...(this.#wantsPeople && { wantsPeople: true }),
      ...(tally && { tally }),
    };
    this.#carrier.data = { ...this.#carrier.peek(), lobby };
  }
}
