// Ada leaves a room and comes back: what every story about recovery is made of.
import { expect } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { RawClient } from "./raw-client.ts";
import { freshRoom, join, Sleeper, tokenFor } from "./rooms.ts";

export const RECOVERING = { query: { recovery: "on" } };
export const HEARD = ["heard 1", "heard 2"];
export const MISSED = ["missed 1", "missed 2", "missed 3"];

/** What a client has to show to come back. */
export interface Ticket {
  readonly sid: string;
  readonly pid: string;
  readonly offset: string;
}

/** Everything that a step of a story works with. */
export interface Story {
  readonly room: string;
  readonly ada: RawClient;
  readonly ticket: Ticket;
  readonly sleeper: Sleeper;
  /** Says it as somebody else. */
  readonly say: (contents: readonly string[]) => Promise<void>;
}

export type Step = (story: Story) => void | Promise<void>;

export const connectAnswer = (client: RawClient): { sid: string; pid?: string } =>
  client.packets().find(({ digit }) => digit === "0")!.data as { sid: string; pid?: string };

export function offsets(client: RawClient, event?: string): string[] {
  return client
    .packets()
    .map(({ digit, data }) => (digit === "2" ? (data as unknown[]) : []))
    .filter(([name]) => name !== undefined && (event === undefined || name === event))
    .map((packet) => packet.at(-1) as string);
}

export const ticketOf = (client: RawClient): Ticket => ({
  ...(connectAnswer(client) as { sid: string; pid: string }),
  offset: offsets(client).at(-1)!,
});

export const contentsOf = (client: RawClient): string[] =>
  client.received<Message>("chat-message").map(({ content }) => content);

/** Says it as a member of its own, who need not outlive it. */
export async function sayIn(room: string, contents: readonly string[]): Promise<void> {
  const ben = await join(room, "ben");
  await Promise.all(contents.map((content) => ben.ask("chat-message", { content })));
  ben.close();
}

/** Ada is in a room and has heard some of what was said there. */
export async function begin(options: Parameters<typeof join>[2] = {}): Promise<Story> {
  const room = freshRoom();
  const ada = await join(room, "ada", { ...RECOVERING, ...options });
  const say = (contents: readonly string[]): Promise<void> => sayIn(room, contents);
  await say(HEARD);
  await ada.receives("chat-message", HEARD.length);
  return { room, ada, ticket: ticketOf(ada), sleeper: new Sleeper(room), say };
}

export async function comeBack(
  room: string,
  { pid, offset }: { readonly pid?: unknown; readonly offset?: unknown },
  token?: string,
): Promise<RawClient> {
  const client = await RawClient.open({ room, ...RECOVERING });
  await client.connect({ pid, offset, token: token ?? (await tokenFor("ada")) });
  await client.receives("welcome");
  return client;
}

/** Recovered, with these messages and no others, before and after `welcome`: REC-4, REC-5. */
export async function expectRecovered(
  { room, ticket, say }: Story,
  back: RawClient,
  missed: readonly string[],
): Promise<void> {
  expect(connectAnswer(back)).toEqual({ sid: ticket.sid, pid: ticket.pid });
  expect(contentsOf(back)).toEqual(missed);
  const events = back.packets().flatMap(({ digit, data }) => (digit === "2" ? [(data as string[])[0]] : []));
  expect(events.slice(0, missed.length + 1)).toEqual([...missed.map(() => "chat-message"), "welcome"]);
  const replayed = back.received<Message>("chat-message");
  expect(replayed.map(({ seq }) => seq)).toEqual(missed.map((_, i) => HEARD.length + 1 + i));
  expect(offsets(back, "chat-message")).toEqual(replayed.map(({ id }) => id.replace("-", ".")));
  await say(["afterwards"]);
  await back.receives("chat-message", missed.length + 1);
  expect(contentsOf(back)).toEqual([...missed, "afterwards"]);
  expect(await back.ask("history", { limit: 1 }), room).toMatchObject({ ok: true });
}

/** As fresh as anybody: another id, and nothing of what was missed, not even a part: REC-3. */
export async function expectFresh({ ticket, say }: Pick<Story, "ticket" | "say">, back: RawClient): Promise<void> {
  const { sid, pid } = connectAnswer(back);
  expect(sid).not.toBe(ticket.sid);
  expect(pid).toBeTypeOf("string");
  expect(pid).not.toBe(ticket.pid);
  await say(["afterwards"]);
  await back.receives("chat-message");
  expect(contentsOf(back)).toEqual(["afterwards"]);
}

export const drop: Step = async ({ ada }) => {
  ada.close();
  await ada.closes();
};
