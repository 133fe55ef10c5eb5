// Users in a room: joining together, and the events of each other's leaves. Used by the tests of people in workerd.
import type { PresenceChange } from "../../src/protocol/chat-events.ts";
import type { RawClient } from "./raw-client.ts";
import { join } from "./rooms.ts";

/** Joins, and waits until everyone has the join: nothing is pending then. */
export async function enter(room: string, ...users: string[]): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (const user of users) clients.push(await join(room, user));
  for (const client of clients) await client.until("the last arrival", () => hasHeardOf(client, users.at(-1)!));
  return clients;
}

const hasHeardOf = (client: RawClient, user: string): true | undefined =>
  client.received<PresenceChange>("presence").some(({ joined }) => joined.some((member) => member.user === user)) ||
  undefined;

export const departuresTo = (client: RawClient): string[] =>
  client.received<PresenceChange>("presence").flatMap(({ left }) => left.map(({ user }) => user));
