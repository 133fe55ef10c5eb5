// Painters on the whiteboard over bare WebSockets. Called by the tests of the whiteboard, of tokens and of recovery.
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";

import { signToken } from "../../../src/settings/tokens/tokens.ts";
import { RawClient } from "../raw-client.ts";

/** A token of this deployment's, which lives for a day. */
export const tokenFor = (user: string, claims: object = {}, ttlSeconds = 86_400): Promise<string> =>
  signToken(env.JWT_SECRET, { user, ...claims }, ttlSeconds);

let boards = 0;
const freshRoom = (): string => `whiteboard-${++boards}`;
export const evict = (room: string, webSockets: "hibernate" | "close"): Promise<void> =>
  evictDurableObject(env.CHAT_ROOM.getByName(room), { webSockets });

interface Ticket {
  readonly sid: string;
  readonly pid: string;
  /** Absent until an event was heard. */
  readonly offset?: string;
}

interface WhoAmI {
  readonly id: string;
  readonly rooms: string[];
  readonly recovered: boolean;
  readonly boards: number;
  readonly connects: number;
  readonly strokes: number;
}

export async function enter(room: string, auth?: Partial<Ticket> & { readonly token?: string }): Promise<RawClient> {
  const client = await RawClient.open({ room, query: { recovery: "on" } });
  await client.connect({ token: await tokenFor("painter"), ...auth });
  // The whole turn has come once something asked after it is answered.
  await call(client, "whoami");
  return client;
}

/** Emits with an ack callback, and as many arguments as it takes. */
export const call = <Answer>(client: RawClient, event: string, ...args: unknown[]): Promise<Answer> =>
  client.call("/", event, ...args);

export const say = (client: RawClient, event: string, ...args: unknown[]): void => client.say(event, ...args);

/** Everything that the client was told without being asked, less the offsets. */
export const heard = (client: RawClient): unknown[][] =>
  client.events().flatMap(({ id, event }) => (id === undefined ? [event.slice(0, -1)] : []));

export const ticketOf = (client: RawClient): Ticket => {
  const last = client.events().findLast(({ id }) => id === undefined);
  return {
    ...(client.packets().find(({ digit }) => digit === "0")!.data as { sid: string; pid: string }),
    ...(last && { offset: last.event.at(-1) as string }),
  };
};

/** Asked by the server, with an ack id. */
export const question = (client: RawClient, name: string): Promise<number> =>
  client.until(
    `the question ${name}`,
    () => client.events().find(({ id, event }) => id !== undefined && event[0] === name)?.id,
  );

/** A painter on the red board, who was on the green one, and heard one stroke. */
export async function begin(): Promise<{ room: string; ada: RawClient; ben: RawClient; ticket: Ticket }> {
  const room = freshRoom();
  const [ada, ben] = [await enter(room), await enter(room)];
  await call(ada, "join", "red");
  await call(ada, "join", "green");
  expect(await call(ada, "leave", "green")).toEqual([ticketOf(ada).sid, "red"]);
  say(ben, "draw", "red", "first");
  await ada.until("the first stroke", () => (heard(ada).length > 0 ? true : undefined));
  return { room, ada, ben, ticket: ticketOf(ada) };
}

export const whoami = (client: RawClient): Promise<WhoAmI> => call<WhoAmI>(client, "whoami");
export async function drop(client: RawClient): Promise<void> {
  client.close();
  await client.closes();
}
