// The rows of a lobby: JSON of many rooms each, and of the counts.
import type { Counts } from "../../metrics/meter.ts";
import type { KeptRoom, KeptUsage } from "./kept-room.ts";
import type { RoomTable } from "./room-pages.ts";
import type { DirectReport } from "../../protocol/direct-room.ts";
import type { RoomNumbers } from "../../protocol/room-list.ts";
import type { ReportedUnread } from "../../protocol/unread.ts";

type Reported = readonly [
  room: string,
  members: number,
  lastSeq: number,
  lastActivity: number | null,
  believedUntilMs: number,
];
type Usage = readonly [sinceMs: number, deltaId: number, connections: number, ...numbers: number[]];

/** `usage` is absent, or `null`, where the room never reported counts. */
type Row = readonly [
  ...reported: Reported,
  usage?: Usage | null,
  people?: string | null,
  direct?: DirectReport | null,
  facts?: RoomNumbers | null,
  /** 1: it has messages of more than one author. */
  isShared?: 1 | null,
  unread?: string,
  mentioned?: string,
  name?: string,
];

/** Characters of marks that one row keeps: the rooms behind it are asked themselves once the lobby has slept. */
const PEOPLE_LENGTH_MAX = 1_000_000;

/** The same of counts of unread messages: the rooms behind it tell nobody what is new, until they report again. */
const UNREAD_LENGTH_MAX = 600_000;

interface Body {
  readonly rooms: readonly Row[];
  readonly counts: Counts;
}

export class SqlRoomTable implements RoomTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  *read(): ReturnType<RoomTable["read"]> {
    const query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'room_pages'";
    if (this.#sql.exec(query).toArray().length === 0) return;
    for (const { page, body } of this.#sql.exec<{ page: number; body: string }>("SELECT page, body FROM room_pages")) {
      const { rooms, counts } = JSON.parse(body) as Body;
      yield { page, rooms: rooms.map(fromRow), counts };
    }
  }

  write(page: number, rooms: readonly KeptRoom[], counts: Counts): void {
    this.#sql.exec("CREATE TABLE IF NOT EXISTS room_pages (page INTEGER PRIMARY KEY, body TEXT NOT NULL)");
    this.#sql.exec(
      "INSERT INTO room_pages (page, body) VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET body = excluded.body",
      page,
      JSON.stringify({ rooms: toRows(rooms), counts } satisfies Body),
    );
  }
}

function toRows(rooms: readonly KeptRoom[]): Row[] {
  let [left, unreadLeft] = [PEOPLE_LENGTH_MAX, UNREAD_LENGTH_MAX];
  return rooms.map(({ people = null, unread = "", mentioned = "", ...kept }) => {
    left -= people?.length ?? 0;
    unreadLeft -= unread.length + mentioned.length;
    return toRow(kept, left >= 0 ? people : null, unreadLeft >= 0 ? { unread, mentioned } : {});
  });
}

function toRow(
  kept: Omit<KeptRoom, "people" | keyof ReportedUnread>,
  people: string | null,
  { unread = "", mentioned = "" }: ReportedUnread,
): Row {
  const { room, members, lastSeq, lastActivity, name, believedUntilMs, usage, direct, facts, isShared } = kept;
  const row = [room, members, lastSeq, lastActivity, believedUntilMs] as const;
  const used = usage ? ([usage.sinceMs, usage.deltaId, usage.connections, ...usage.numbers] as const) : null;
  if (unread !== "" || name !== undefined) {
    const all = [...row, used, people, direct ?? null, facts ?? null, isShared ? 1 : null, unread] as const;
    if (name !== undefined) return [...all, mentioned, name];
    return mentioned === "" ? all : [...all, mentioned];
  }
  if (isShared) return [...row, used, people, direct ?? null, facts ?? null, 1];
  if (facts) return [...row, used, people, direct ?? null, facts];
  if (direct) return [...row, used, people, direct];
  if (people !== null) return [...row, used, people];
  return used ? [...row, used] : row;
}

function fromRow([
  room,
  members,
  lastSeq,
  lastActivity,
  believedUntilMs,
  used,
  people,
  direct,
  facts,
  isShared,
  unread,
  mentioned,
  name,
]: Row): KeptRoom {
  return {
    room,
    members,
    lastSeq,
    lastActivity,
    ...(name !== undefined && { name }),
    believedUntilMs,
    ...(used && { usage: fromUsage(used) }),
    ...(people != null && { people }),
    ...(direct && { direct }),
    ...(facts && { facts }),
    ...(isShared && { isShared: true }),
    ...(unread !== undefined && { unread }),
    ...(mentioned !== undefined && { mentioned }),
  };
}

const fromUsage = ([sinceMs, deltaId, connections, ...numbers]: Usage): KeptUsage => ({
  sinceMs,
  deltaId,
  connections,
  numbers,
});
