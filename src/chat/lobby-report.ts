// Telling the lobby how the room is doing: at once after quiet, ever more seldom while it goes on, and once more when it
// falls quiet (LOB-1, LOB-2). A report costs a request; one that is owed waits for whatever wakes the room anyway.
import type { RoomReport } from "../protocol/room-list.ts";
import type { Message } from "../protocol/chat-events.ts";
import type { Deadline } from "../socketio/deadlines.ts";
import { GrowingWindow, type WindowState } from "../socketio/growing-window.ts";
import type { Members } from "./members.ts";
import type { Client, Feature, Room } from "./room.ts";

/** From one report to the next, at least: this long at first, and up to that long in a room that is always busy. */
export const REPORT_WINDOW_MS_MIN = 5000;
export const REPORT_WINDOW_MS_MAX = 60_000;

/** How long an owed report waits for something else to wake the room: the heartbeat of stock clients is sooner. */
export const REPORT_PATIENCE_MS = 45_000;

/**
 * In a room without connections nothing remembers what is owed through a sleep, so it waits awake: for less than an alarm
 * would cost, twice over.
 */
export const REPORT_WINDOW_EMPTY_MS = 1000;

/** An occupied room says so again when it wakes after this. */
export const REPORT_AGAIN_MS = 30 * 60_000;

/** LOB-4: even a room that is woken twice an hour says so again before this is over, twice. */
export const REPORT_BELIEVED_MS = 150 * 60_000;

/** A report that failed is tried again after this, and after twice as long each time, up to that. */
export const REPORT_RETRY_MS_MIN = 60_000;
export const REPORT_RETRY_MS_MAX = 3_600_000;

export type ReportToLobby = (report: RoomReport) => Promise<void>;

/** What is remembered through sleep, on one of the connections: it costs no row. */
export interface Reported extends WindowState {
  /** Whether something has changed since. */
  readonly isOwed?: true;
}

export class LobbyReport implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #send: ReportToLobby;
  readonly #window = new GrowingWindow({ minMs: REPORT_WINDOW_MS_MIN, maxMs: REPORT_WINDOW_MS_MAX });
  /** When it is time, it goes along with whatever wakes the room; … */
  #along!: Deadline;
  /** … and if nothing does, it wakes the room. */
  #latest!: Deadline;
  #awake!: Deadline;
  #carrier: Client | undefined;
  /** What the lobby knows; `undefined` where this life of the room cannot say. */
  #told: RoomReport | undefined;
  #isOwed = false;
  #isSending = false;
  /** Of an erased room the next life speaks. */
  #isOver = false;
  #failures = 0;
  /** Of the newest message; `undefined` until it is looked up. */
  #lastActivity: number | null | undefined;

  constructor(room: Room, members: Members, send: ReportToLobby) {
    this.#room = room;
    this.#members = members;
    this.#send = send;
  }

  start(): void {
    const { deadline } = this.#room;
    const run = (nowMs: number): void => this.#report(nowMs);
    this.#along = deadline("lobby", run, { rides: true });
    this.#latest = deadline("lobby-owed", run);
    this.#awake = deadline("lobby-awake", run, { keepsAwake: true });
    this.#members.watch(() => this.#change());
    // A room that is woken by its clock, and finds nobody who remembers, cannot know what the lobby believes (LOB-3).
    this.#along.set(this.#room.now());
  }

  onRestore(client: Client): void {
    const { lobby } = client.peek();
    if (!lobby) return;
    this.#carrier = client;
    this.#window.restore(lobby);
    this.#isOwed = lobby.isOwed === true;
    if (this.#isOwed) this.#waitOccupied(this.#room.now());
    else this.#along.set(lobby.atMs + REPORT_AGAIN_MS);
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

  onDisconnect(client: Client): void {
    if (client === this.#carrier) this.#keep();
  }

  /** Something has happened that the lobby cannot know of. */
  tell(): void {
    this.#told = undefined;
    this.#isOwed = true;
    this.#settle();
  }

  onErase(): void {
    this.#isOver = true;
    for (const deadline of [this.#along, this.#latest, this.#awake]) deadline.clear();
  }

  #change(): void {
    this.#isOwed = true;
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
    if (!this.#isEmpty) return this.#window.isOpen(nowMs);
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
    this.#along.set(dueMs);
    if (this.#latest.atMs !== undefined) return;
    this.#latest.set(Math.max(nowMs, dueMs) + REPORT_PATIENCE_MS);
    this.#keep();
  }

  #report(nowMs: number): void {
    if (this.#isSending) return;
    for (const deadline of [this.#along, this.#latest, this.#awake]) deadline.clear();
    const report = this.#describe();
    if (!report || (this.#isKnown(report) && !this.#isOld(nowMs))) return this.#rest(nowMs);
    this.#window.pass(nowMs);
    this.#isOwed = false;
    this.#isSending = true;
    this.#keep();
    void this.#deliver(report);
  }

  #describe(): RoomReport | undefined {
    const { name, seenSeq, read } = this.#room;
    const lastActivity = (this.#lastActivity ??= read((log) => log.page({ limit: 1 }).messages[0]?.timestamp ?? null));
    // A log that cannot be read is trouble enough; the next change tries again.
    if (lastActivity === undefined) return undefined;
    const members = this.#members.count;
    return {
      room: name,
      members,
      lastSeq: seenSeq(),
      lastActivity,
      believedMs: REPORT_BELIEVED_MS,
      madeAtMs: this.#room.now(),
    };
  }

  #isKnown({ members, lastSeq, lastActivity }: RoomReport): boolean {
    const told = this.#told;
    return told?.members === members && told.lastSeq === lastSeq && told.lastActivity === lastActivity;
  }

  /** Whether the lobby is soon going to doubt what it knows. */
  #isOld(nowMs: number): boolean {
    return this.#members.count > 0 && nowMs - this.#window.state.atMs >= REPORT_AGAIN_MS;
  }

  async #deliver(report: RoomReport): Promise<void> {
    const { turn } = this.#room;
    try {
      await this.#send(report);
      turn(() => this.#isOver || this.#succeed(report));
    } catch (error) {
      turn(() => this.#isOver || this.#fail(error));
    }
  }

  #succeed(report: RoomReport): void {
    this.#isSending = false;
    this.#failures = 0;
    this.#told = report;
    if (this.#isOwed) this.#settle();
    else this.#rest(this.#room.now());
  }

  /** The room goes on as if nothing had happened; its next change tries again, or a deadline does. */
  #fail(error: unknown): void {
    this.#isSending = false;
    this.#isOwed = true;
    this.#told = undefined;
    // Once for a series: while the lobby is away, every room would say so again and again.
    if (this.#failures++ === 0) this.#room.report("the lobby could not be told", error);
    const waitMs = Math.min(REPORT_RETRY_MS_MAX, REPORT_RETRY_MS_MIN * 2 ** (this.#failures - 1));
    this.#latest.set(this.#room.now() + waitMs);
    this.#keep();
  }

  /** Nothing is owed. */
  #rest(nowMs: number): void {
    this.#isOwed = false;
    if (!this.#isEmpty) this.#along.set(nowMs + REPORT_AGAIN_MS);
    this.#keep();
  }

  /** What outlives a sleep. While a report is under way it may yet be lost. */
  #keep(): void {
    const { clients } = this.#room;
    const isStillThere = this.#carrier && clients.get(this.#carrier.id) === this.#carrier;
    if (!isStillThere) [this.#carrier] = clients.values();
    if (!this.#carrier) return;
    const isOwed = this.#isOwed || this.#isSending;
    this.#carrier.data = { ...this.#carrier.peek(), lobby: { ...this.#window.state, ...(isOwed && { isOwed }) } };
  }
}
