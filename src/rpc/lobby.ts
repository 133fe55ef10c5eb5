// The calls of a lobby's object, those of rooms about it, and helpers that ask all lobbies of a deployment. Called by rooms and the Worker.
import type { RoomUsage, Scrape, UsageQuery } from "../metrics/busiest-rooms.ts";
import type { Whereabouts } from "../protocol/announcement.ts";
import type { DirectOverview, DirectPage } from "../protocol/direct-room.ts";
import type { JoinedRooms } from "../protocol/schemas/unread.ts";
import {
  lobbyNames,
  mergePages,
  type ReportAnswer,
  type RoomPage,
  type RoomQuery,
  type RoomReport,
  type CounterDelta,
} from "../protocol/room-list.ts";

export interface LobbyRpc {
  /** Takes the report of a room. */
  report(report: RoomReport): Promise<ReportAnswer>;

  list(query: RoomQuery): Promise<RoomPage>;

  /** Takes the counts of an isolate of the Worker. */
  count(source: string, delta: CounterDelta): Promise<void>;

  scrape(): Promise<Scrape>;

  usage(query: UsageQuery): Promise<readonly RoomUsage[]>;

  /** Counts the rooms of a query. */
  countRooms(query: Omit<RoomQuery, "sort" | "limit" | "after">): Promise<number>;

  /** Counts bytes that a user uploads. @returns how long the user has to wait, in milliseconds; 0: not at all (FILE-8) */
  takeUpload(user: string, bytes: number): Promise<number>;

  /** Counts the bytes that came of an upload that failed, in place of those that `takeUpload` took at `takenMs`. */
  endUpload(
    user: string,
    upload: { readonly taken: number; readonly takenMs: number; readonly received: number },
  ): Promise<void>;

  /** The conversations of a user, behind one of them. */
  listDirect(user: string, page: { readonly limit: number; readonly after?: DirectOverview }): Promise<DirectPage>;

  /**
   * The rooms that a user has been in, with what is new there (LOB-9).
   * @param since the `version` that the caller has: while it counts, the answer waits for `waitMs`
   * @param opened the rooms that the user's token opens; absent: all
   */
  joined(
    user: string,
    look: {
      readonly since?: string | undefined;
      readonly waitMs: number;
      readonly opened?: readonly string[] | undefined;
    },
  ): Promise<JoinedRooms>;

  /** Finds the rooms of these users; from now on rooms report their members (ANN-7). */
  find(users: readonly string[]): Promise<Whereabouts>;
}

/** The call of a room that reports to a lobby. */
export interface ListedRpc {
  /** A reader of the room looks at their list of rooms from now on: the room reports changes soon (LOB-9). */
  watched(): Promise<void>;
}

/** The binding LOBBY. */
interface Lobbies {
  getByName(name: string): LobbyRpc;
}

export const lobbiesOf = (lobbies: Lobbies, count: number): LobbyRpc[] =>
  lobbyNames(count).map((name) => lobbies.getByName(name));

/** Asks all lobbies for the rooms of users; each room is known to one of them. */
export async function whereabouts(
  lobbies: Lobbies | undefined,
  count: number,
  users: readonly string[],
): Promise<Whereabouts> {
  if (!lobbies) throw new Error("LOBBY: the binding is missing");
  const all = await Promise.all(lobbiesOf(lobbies, count).map((lobby) => lobby.find(users)));
  return { found: all.flatMap(({ found }) => found), unknown: all.flatMap(({ unknown }) => unknown) };
}

/** One page of the list of rooms, merged from all lobbies in the order that they share (LOB-5). */
export async function listRooms(lobbies: Lobbies, count: number, query: RoomQuery): Promise<RoomPage> {
  return mergePages(await Promise.all(lobbiesOf(lobbies, count).map((lobby) => lobby.list(query))), query);
}

/** Lists rooms by name, those between two people left out. Called by announcements that go to a prefix. */
export function roomsByPrefix(lobbies: Lobbies | undefined, count: number) {
  return async (
    prefix: string,
    { after, ...query }: { readonly after?: string; readonly limit: number; readonly isOccupied: boolean },
  ): Promise<{ readonly rooms: readonly string[]; readonly hasMore: boolean }> => {
    if (!lobbies) throw new Error("LOBBY: the binding is missing");
    const place = after === undefined ? {} : { after: { value: 0, room: after } };
    const { rooms, hasMore } = await listRooms(lobbies, count, {
      sort: "name",
      prefix,
      isForMembers: true,
      ...query,
      ...place,
    });
    return { rooms: rooms.map(({ room }) => room), hasMore };
  };
}
