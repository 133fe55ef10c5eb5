// Test clients of the sample application in whiteboard.ts, over bare WebSockets. Used by the tests of the whiteboard, tokens and recovery.
import { env } from "cloudflare:workers";
import { expect } from "vitest";

import { signToken } from "../../../src/settings/tokens/tokens.ts";
import * as kit from "../../kit/testing.ts";
import { RawClient } from "../raw-client.ts";
import type { WireClient } from "../../wire/wire-client.ts";

/** A token of this deployment's, which lives for a day. */
export const tokenFor = (user: string, claims: object = {}, ttlSeconds = 86_400): Promise<string> =>
  signToken(env.JWT_SECRET, { user, ...claims }, ttlSeconds);

let boards = 0;
const freshRoom = (): string => `whiteboard-${++boards}`;
export const evict = (room: string, webSockets: "hibernate" | "close"): Promise<void> =>
  kit.evict(env.WHITEBOARD.getByName(room), webSockets);

/** The auth of a CONNECT that asks for recovery. */
export interface RecoveryAuth {
  readonly sid: string;
  readonly pid: string;
  /** Absent before the first event. */
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

export async function enter(
  room: string,
  auth?: Partial<RecoveryAuth> & { readonly token?: string },
): Promise<RawClient> {
  const client = await RawClient.open({ room, query: { recovery: "on" } });
  await client.connect({ token: await tokenFor("painter"), ...auth });
  // Once a later call is answered, everything that the CONNECT brings has come.
  await client.ask("whoami");
  return client;
}

export const say = (client: RawClient, event: string, ...args: unknown[]): void => client.emit(event, ...args);

/** All events that expect no answer, without their offsets. */
export const heard = (client: WireClient): unknown[][] =>
  client.events().flatMap(({ id, event }) => (id === undefined ? [event.slice(0, -1)] : []));

export const recoveryAuthOf = (client: WireClient): RecoveryAuth => {
  const last = client.events().findLast(({ id }) => id === undefined);
  return {
    ...client.accepted(),
    ...(last && { offset: last.event.at(-1) as string }),
  };
};

/** Waits for an event of the server that expects an answer. @returns its ack id */
export const question = (client: RawClient, name: string): Promise<number> =>
  client.until(
    `the question ${name}`,
    () => client.events().find(({ id, event }) => id !== undefined && event[0] === name)?.id,
  );

/** A painter on the red board, who was on the green one, and heard one stroke. */
export async function begin(): Promise<{ room: string; ada: RawClient; ben: RawClient; recoveryAuth: RecoveryAuth }> {
  const room = freshRoom();
  const [ada, ben] = [await enter(room), await enter(room)];
  await ada.ask("join", "red");
  await ada.ask("join", "green");
  expect(await ada.ask("leave", "green")).toEqual([recoveryAuthOf(ada).sid, "red"]);
  say(ben, "draw", "red", "first");
  await ada.until("the first stroke", () => (heard(ada).length > 0 ? true : undefined));
  return { room, ada, ben, recoveryAuth: recoveryAuthOf(ada) };
}

export const whoami = (client: RawClient): Promise<WhoAmI> => client.ask<WhoAmI>("whoami");
export async function drop(client: RawClient): Promise<void> {
  client.close();
  await client.closes();
}
