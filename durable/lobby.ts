// The Durable Object of the list of rooms: src/lobby over its own SQLite. Several share the rooms by name (LOBBIES). Called by rooms
// and the Worker.
import { DurableObject } from "cloudflare:workers";

import { logProblem } from "../src/settings/log.ts";
import type { LobbyRpc } from "../src/rpc/lobby.ts";
import { Lobby as Rooms } from "../src/lobby/lobby.ts";
import type { Whereabouts } from "../src/protocol/announcement.ts";
import type { JoinedRooms } from "../src/protocol/schemas/unread.ts";
import type { DirectPage } from "../src/protocol/direct-room.ts";
import type { ReportAnswer, RoomPage, RoomQuery, RoomReport, CounterDelta } from "../src/protocol/room-list.ts";
import { UploadBytes } from "../src/lobby/upload-bytes.ts";
import { Meter } from "../src/metrics/meter.ts";
import type { RoomUsage, Scrape, UsageQuery } from "../src/metrics/busiest-rooms.ts";
import { newId } from "./socketio/new-id.ts";
import { Deadlines } from "../src/clock/deadlines.ts";
import { countedStorage } from "./socketio/counted-storage.ts";
import type { Env } from "./env.ts";
import { goodSettingsOf } from "./good-settings.ts";
import { SqlRoomTable } from "./sql/sql-room-table.ts";
import { openStored, type StoredFormat } from "./socketio/stored-format.ts";
import { WakeClock } from "./socketio/wake-clock.ts";

const FORMAT: StoredFormat = { of: "the lobby", migrations: [] };

export class Lobby extends DurableObject<Env> implements LobbyRpc {
  readonly #deadlines = new Deadlines();
  readonly #rooms: Rooms;
  readonly #storage: DurableObjectStorage;
  #uploads: UploadBytes | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const save = (nowMs: number): void => this.#rooms.save(nowMs);
    const saveDeadline = this.#deadlines.add("save", save, { keepsAwake: true });
    const meter = new Meter();
    const report = (problem: string, error: unknown): void => {
      meter.count("problems:lobby");
      logProblem("lobby.problem", problem, error);
    };
    const storage = openStored(countedStorage(ctx.storage, meter, "rows:lobby"), FORMAT);
    this.#storage = storage;
    const people = new StoredWish(storage);
    const bounds = goodSettingsOf(env);
    const table = new SqlRoomTable(storage.sql);
    this.#rooms = new Rooms({ table, saveDeadline, people, report, meter, bounds, life: newId() });
    const tick = (): void => void this.#deadlines.runDue(Date.now(), report);
    const clock = new WakeClock(ctx.storage, this.#deadlines, tick);
    void ctx.blockConcurrencyWhile(() => clock.wake());
  }

  /** @internal */
  async report(report: RoomReport): Promise<ReportAnswer> {
    return this.#rooms.report(report, Date.now());
  }

  /** @internal */
  async countRooms(query: Parameters<LobbyRpc["countRooms"]>[0]): Promise<number> {
    return this.#rooms.countRooms(query, Date.now());
  }

  /** @internal */
  async takeUpload(user: string, bytes: number): Promise<number> {
    return this.#uploadBytes.take(user, bytes, goodSettingsOf(this.env).uploadBytesPerUserDay, Date.now());
  }

  /** @internal */
  async endUpload(user: string, upload: Parameters<LobbyRpc["endUpload"]>[1]): Promise<void> {
    this.#uploadBytes.giveBack(user, upload, goodSettingsOf(this.env).uploadBytesPerUserDay);
  }

  /** Few lobbies need them at a wake. */
  get #uploadBytes(): UploadBytes {
    return (this.#uploads ??= new UploadBytes(this.#storage.kv));
  }

  /** @internal */
  async listDirect(user: string, page: Parameters<LobbyRpc["listDirect"]>[1]): Promise<DirectPage> {
    return this.#rooms.listDirect(user, page, Date.now());
  }

  /** @internal */
  async joined(
    user: string,
    { since, waitMs }: { readonly since?: string | undefined; readonly waitMs: number },
  ): Promise<JoinedRooms> {
    const look = (): JoinedRooms => this.#rooms.joined(user, Date.now() + waitMs, Date.now());
    const now = look();
    if (waitMs === 0 || now.version !== since) return now;
    await new Promise<void>((resolve) => {
      const end = this.#rooms.whenChanged(user, () => {
        clearTimeout(timer);
        resolve();
      });
      const timer = setTimeout(() => {
        end();
        resolve();
      }, waitMs);
    });
    return look();
  }

  /** @internal */
  async find(users: readonly string[]): Promise<Whereabouts> {
    return this.#rooms.find(users, Date.now());
  }

  /** @internal */
  async list(query: RoomQuery): Promise<RoomPage> {
    return this.#rooms.list(query, Date.now());
  }

  /** @internal */
  async count(source: string, delta: CounterDelta): Promise<void> {
    this.#rooms.count(source, delta, Date.now());
  }

  /** @internal */
  async scrape(): Promise<Scrape> {
    return this.#rooms.scrape(Date.now());
  }

  /** @internal */
  async usage(query: UsageQuery): Promise<RoomUsage[]> {
    return this.#rooms.usage(query, Date.now());
  }
}

const PEOPLE_KEY = "wants-people";

/** Remembers that rooms report their members: one row, written once. */
class StoredWish {
  readonly #storage: DurableObjectStorage;
  isWanted: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.isWanted = storage.kv.get(PEOPLE_KEY) === true;
  }

  want(): void {
    this.#storage.kv.put(PEOPLE_KEY, true);
    this.isWanted = true;
  }
}
