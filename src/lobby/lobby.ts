// A lobby: what rooms last said of themselves, listed. It asks no room anything, so listing wakes none (LOB-1); it
// stores reports at once in quiet times and together in busy ones (LOB-7).
import { roomAllowed } from "../protocol/room-name.ts";
import { byPlace, isPrivateRoom, type RoomPage, type RoomQuery, type RoomReport } from "../protocol/room-list.ts";
import type { RoomOverview } from "../protocol/chat-events.ts";
import type { Deadline } from "../socketio/deadlines.ts";
import { GrowingWindow } from "../socketio/growing-window.ts";
import { keptRoom, seenAt } from "./kept-room.ts";
import { NewestReports } from "./newest-reports.ts";
import { RoomPages, type RoomTable } from "./room-pages.ts";
import { SortedRooms } from "./sorted-rooms.ts";

/**
 * From one storing to the next. To wait a second for company costs about as much as a row and a half; where company keeps
 * coming, the wait is longer, and a crash may take what was reported within it.
 */
export const SAVE_WINDOW_MS_MIN = 1000;
export const SAVE_WINDOW_MS_MAX = 60_000;

/** Rooms that one lobby lists; then a tenth is forgotten of those with nobody there, the longest quiet first. */
export const ROOMS_MAX = 100_000;

export interface LobbyPorts {
  readonly table: RoomTable;
  /** Calls `save` of this lobby when it is due; it has to be waited for awake. */
  readonly saveDeadline: Deadline;
  readonly report: (problem: string, error: unknown) => void;
  /** Only tests have reasons to make it smaller. */
  readonly roomsMax?: number;
}

export class Lobby {
  readonly #ports: LobbyPorts;
  readonly #rooms: RoomPages;
  readonly #newest = new NewestReports();
  readonly #sorted = new SortedRooms();
  readonly #window = new GrowingWindow({ minMs: SAVE_WINDOW_MS_MIN, maxMs: SAVE_WINDOW_MS_MAX });

  constructor(ports: LobbyPorts) {
    this.#ports = ports;
    this.#rooms = new RoomPages(ports.table);
  }

  report(report: RoomReport, nowMs: number): void {
    if (!this.#newest.accept(report)) return;
    const kept = keptRoom(report, nowMs);
    if (seenAt(kept, nowMs)) this.#rooms.set(kept);
    else this.#rooms.delete(kept.room);
    this.#makeSpace(nowMs);
    if (!this.#rooms.hasChanged) return;
    if (this.#window.isOpen(nowMs)) this.save(nowMs);
    else this.#ports.saveDeadline.pull(this.#window.dueMs(nowMs));
  }

  /** Stores what was reported since the last time. */
  save(nowMs: number): void {
    this.#window.pass(nowMs);
    this.#ports.saveDeadline.clear();
    try {
      this.#rooms.save();
    } catch (error) {
      this.#ports.report("reports of rooms could not be stored", error);
      this.#ports.saveDeadline.set(this.#window.dueMs(nowMs));
    }
  }

  list(query: RoomQuery, nowMs: number): RoomPage {
    const { sort, limit, after } = query;
    const found: RoomOverview[] = [];
    for (const { room, place } of this.#sorted.in(sort, nowMs, this.#rooms.size, () => this.#seen(nowMs))) {
      if ((after !== undefined && byPlace(place, after) <= 0) || !isMeant(query, room)) continue;
      found.push(room);
      if (found.length > limit) break;
    }
    return { rooms: found.slice(0, limit), hasMore: found.length > limit };
  }

  *#seen(nowMs: number): Iterable<RoomOverview> {
    for (const kept of this.#rooms.all()) {
      const seen = seenAt(kept, nowMs);
      if (seen) yield seen;
    }
  }

  #makeSpace(nowMs: number): void {
    const { roomsMax = ROOMS_MAX } = this.#ports;
    if (this.#rooms.size <= roomsMax) return;
    const rooms = [...this.#rooms.all()];
    const idle = rooms.filter((kept) => (seenAt(kept, nowMs)?.members ?? 0) === 0);
    idle.sort((a, b) => (a.lastActivity ?? 0) - (b.lastActivity ?? 0));
    for (const { room } of idle.slice(0, Math.ceil(roomsMax / 10))) this.#rooms.delete(room);
  }
}

function isMeant(query: RoomQuery, { room, members }: RoomOverview): boolean {
  const { prefix = "", rooms, isForMembers = false, isOccupied = false } = query;
  if (!room.startsWith(prefix) || !roomAllowed(rooms, room)) return false;
  return !(isForMembers && isPrivateRoom(room)) && !(isOccupied && members === 0);
}
