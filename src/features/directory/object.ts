// The Durable Object of the list of rooms: lobby.ts over its own SQLite. Several share the rooms by name (LOBBIES). Called by rooms
// and the Worker.
import { DurableObject } from "cloudflare:workers";

import { logProblem } from "../../settings/log.ts";
import type { LobbyRpc } from "../../rpc/lobby.ts";
import { Lobby as Rooms } from "./lobby.ts";
import type { Whereabouts } from "../../protocol/announcement.ts";
import type { JoinedRooms } from "../../protocol/schemas/unread.ts";
import type { DirectPage } from "../../protocol/direct-room.ts";
import type { ReportAnswer, RoomPage, RoomQuery, RoomReport, CounterDelta } from "../../protocol/room-list.ts";
import { UploadBytes } from "./upload-bytes.ts";
import { Meter } from "../../metrics/meter.ts";
import type { RoomUsage, Scrape, UsageQuery } from "../../metrics/busiest-rooms.ts";
import { newId } from "../../socketio/object/new-id.ts";
import { Deadlines } from "../../clock/deadlines.ts";
import { countedStorage } from "../../socketio/object/counted-storage.ts";
import type { Env } from "../../objects/env.ts";
import { goodSettingsOf } from "../../objects/good-settings.ts";
import { stateIn } from "../../storage/room-state.ts";
import { SqlRoomTable } from "./sql-room-table.ts";
import { openStored, type StoredFormat } from "../../socketio/object/stored-format.ts";
import { WakeClock } from "../../socketio/object/wake-clock.ts";

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
    this.#rooms = new Rooms({ table, saveDeadline, people, report, meter, bounds, instance: newId() });
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
    return (this.#uploads ??= new UploadBytes(stateIn(this.#storage.kv)));
  }

  /** @internal */
  async listDirect(user: string, page: Parameters<LobbyRpc["listDirect"]>[1]): Promise<DirectPage> {
    return this.#rooms.listDirect(user, page, Date.now());
  }

  /** @internal */
  async joined(user: string, { since, waitMs, opened }: Parameters<LobbyRpc["joined"]>[1]): Promise<JoinedRooms> {
    const look = (): JoinedRooms => this.#rooms.joined(user, { untilMs: Date.now() + waitMs, opened }, Date.now());
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
