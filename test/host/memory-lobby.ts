// A lobby over rows in memory, with a clock turned by hand, that can lose its life and be away.
import { Meter, type Counts } from "../../src/metrics/meter.ts";
import type { RoomUsage, Scrape, UsageQuery } from "../../src/metrics/busiest-rooms.ts";
import { Lobby } from "../../src/features/directory/lobby.ts";
import type { KeptRoom } from "../../src/features/directory/kept-room.ts";
import type { ReportAnswer, RoomQuery, RoomReport } from "../../src/protocol/room-list.ts";
import type { Whereabouts } from "../../src/protocol/announcement.ts";
import type { RoomOverview } from "../../src/protocol/chat-events.ts";
import type { RoomBounds } from "../../src/clock/user-rooms.ts";
import { Deadlines } from "../../src/clock/deadlines.ts";
import { START_MS } from "./harness.ts";

export class MemoryLobby {
  nowMs = START_MS;
  /** Rows written. */
  writes = 0;
  /** While set, storing fails with it. */
  failure: Error | undefined;
  readonly people = {
    isWanted: false,
    want(): void {
      this.isWanted = true;
    },
  };
  readonly problems: string[] = [];
  readonly #rows = new Map<number, { readonly rooms: readonly KeptRoom[]; readonly counts: Counts }>();
  readonly #roomsMax: number | undefined;
  readonly #bounds: RoomBounds | undefined;
  readonly #meter = new Meter();
  #instances = 0;
  #deadlines!: Deadlines;
  #lobby!: Lobby;

  constructor(roomsMax?: number, bounds?: RoomBounds) {
    this.#roomsMax = roomsMax;
    this.#bounds = bounds;
    this.restart();
  }

  /** Starts the next instance, which has the stored rows only. */
  restart(): void {
    this.#deadlines = new Deadlines();
    this.#lobby = new Lobby({
      table: {
        read: () => [...this.#rows].map(([page, row]) => ({ page, ...structuredClone(row) })),
        write: (page, rooms, counts) => {
          if (this.failure) throw this.failure;
          this.writes++;
          this.#meter.count("rows:lobby");
          this.#rows.set(page, structuredClone({ rooms, counts }));
        },
      },
      people: this.people,
      instance: `instance-${++this.#instances}`,
      meter: this.#meter,
      saveDeadline: this.#deadlines.add("save", (nowMs) => this.#lobby.save(nowMs), { keepsAwake: true }),
      report: (problem) => this.problems.push(problem),
      ...(this.#bounds && { bounds: this.#bounds }),
      ...(this.#roomsMax !== undefined && { roomsMax: this.#roomsMax }),
    });
  }

  /** Whether a crash would lose nothing, and the lobby may sleep. */
  get isSaved(): boolean {
    return this.#deadlines.nextAwake() === undefined;
  }

  report(report: RoomReport): ReportAnswer {
    return this.#lobby.report(report, this.nowMs);
  }

  usage(query: UsageQuery): RoomUsage[] {
    return this.#lobby.usage(query, this.nowMs);
  }

  scrape(): Scrape {
    return this.#lobby.scrape(this.nowMs);
  }

  find(users: readonly string[]): Whereabouts {
    return this.#lobby.find(users, this.nowMs);
  }

  /** By name, all that fit a page of 1,000. */
  /** The other one of each of a user's conversations. */
  directOf(user: string): string[] {
    return this.#lobby.listDirect(user, { limit: 100 }, this.nowMs).dms.map((dm) => dm.user);
  }

  /** What is new for a user, by room. @param lookMs how long they look */
  unreadOf(user: string, lookMs = 0): Record<string, number> {
    const { rooms } = this.joined(user, lookMs);
    return Object.fromEntries(rooms.map(({ room, unread }) => [room, unread]));
  }

  /** @param opened the rooms that the user's token opens */
  joined(user: string, lookMs = 0, opened?: readonly string[]): ReturnType<Lobby["joined"]> {
    return this.#lobby.joined(user, { untilMs: this.nowMs + lookMs, opened }, this.nowMs);
  }

  whenChanged(user: string, changed: () => void): () => void {
    return this.#lobby.whenChanged(user, changed);
  }

  list(query: Partial<RoomQuery> = {}): readonly RoomOverview[] {
    return this.page(query).rooms;
  }

  page(query: Partial<RoomQuery> = {}): ReturnType<Lobby["list"]> {
    return this.#lobby.list({ sort: "name", limit: 1000, ...query }, this.nowMs);
  }

  /** Turns the clock on and carries out due stores on the way. */
  advanceTo(endMs: number): void {
    for (;;) {
      const dueMs = this.#deadlines.next();
      if (dueMs === undefined || dueMs > endMs) break;
      this.nowMs = Math.max(this.nowMs, dueMs);
      this.#deadlines.runDue(this.nowMs, (name) => this.problems.push(name));
    }
    this.nowMs = endMs;
  }

  advance(ms: number): void {
    this.advanceTo(this.nowMs + ms);
  }
}
