// The list of rooms = one Durable Object, or several that share them by name: the pure lobby over its own SQLite.
import { DurableObject } from "cloudflare:workers";

import type { LobbyDoor } from "../src/access/lobby-door.ts";
import type { KeptRoom } from "../src/lobby/kept-room.ts";
import { Lobby as Rooms } from "../src/lobby/lobby.ts";
import type { RoomTable } from "../src/lobby/room-pages.ts";
import type { RoomPage, RoomQuery, RoomReport } from "../src/protocol/room-list.ts";
import { Deadlines } from "../src/socketio/deadlines.ts";
import type { Env } from "./env.ts";
import { WakeClock } from "./wake-clock.ts";

export class Lobby extends DurableObject<Env> implements LobbyDoor {
  readonly #deadlines = new Deadlines();
  readonly #rooms: Rooms;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const report = (problem: string, error: unknown): void => console.error(`lobby: ${problem}:`, error);
    const save = (nowMs: number): void => this.#rooms.save(nowMs);
    const saveDeadline = this.#deadlines.add("save", save, { keepsAwake: true });
    this.#rooms = new Rooms({ table: new SqlRoomTable(ctx.storage.sql), saveDeadline, report });
    const tick = (): void => void this.#deadlines.runDue(Date.now(), report);
    const clock = new WakeClock(ctx.storage, this.#deadlines, tick);
    void ctx.blockConcurrencyWhile(() => clock.wake());
  }

  async report(report: RoomReport): Promise<void> {
    this.#rooms.report(report, Date.now());
  }

  async list(query: RoomQuery): Promise<RoomPage> {
    return this.#rooms.list(query, Date.now());
  }
}

type Row = [room: string, members: number, lastSeq: number, lastActivity: number | null, believedUntilMs: number];

class SqlRoomTable implements RoomTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  *read(): ReturnType<RoomTable["read"]> {
    const query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'room_pages'";
    if (this.#sql.exec(query).toArray().length === 0) return;
    for (const { page, body } of this.#sql.exec<{ page: number; body: string }>("SELECT page, body FROM room_pages")) {
      yield { page, rooms: (JSON.parse(body) as Row[]).map(fromRow) };
    }
  }

  write(page: number, rooms: readonly KeptRoom[]): void {
    this.#sql.exec("CREATE TABLE IF NOT EXISTS room_pages (page INTEGER PRIMARY KEY, body TEXT NOT NULL)");
    this.#sql.exec(
      "INSERT INTO room_pages (page, body) VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET body = excluded.body",
      page,
      JSON.stringify(rooms.map(toRow)),
    );
  }
}

const toRow = ({ room, members, lastSeq, lastActivity, believedUntilMs }: KeptRoom): Row => [
  room,
  members,
  lastSeq,
  lastActivity,
  believedUntilMs,
];

const fromRow = ([room, members, lastSeq, lastActivity, believedUntilMs]: Row): KeptRoom => ({
  room,
  members,
  lastSeq,
  lastActivity,
  believedUntilMs,
});
