// Ada leaves a room and comes back: the steps of all tests of recovery.
import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { openLog } from "./logs.ts";
import { RawClient } from "./raw-client.ts";
import { freshRoom, join, Sleeper, stubOf, tokenFor } from "./rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

export const RECOVERING = { query: { recovery: "on" } };
export const HEARD = ["heard 1", "heard 2"];
export const MISSED = ["missed 1", "missed 2", "missed 3"];

/** The pid and the offset that a client sends to recover. */
export interface RecoveryAuth {
  readonly sid: string;
  readonly pid: string;
  readonly offset: string;
}

/** Everything that a step of a story works with. */
export interface Story {
  readonly room: string;
  readonly ada: RawClient;
  readonly recoveryAuth: RecoveryAuth;
  readonly sleeper: Sleeper;
  /** Posts it as another user. */
  readonly say: (contents: readonly string[]) => Promise<void>;
}

/** A client over either transport. */
type Received = Pick<RawClient, "accepted" | "received">;

export type Step = (story: Story) => void | Promise<void>;

export const connectAnswer = (client: Received): { sid: string; pid?: string } => client.accepted();

function offsets(client: RawClient, event?: string): string[] {
  const events = client.events().map((heard) => heard.event);
  return events.filter(([name]) => event === undefined || name === event).map((args) => args.at(-1) as string);
}

const recoveryAuthOf = (client: RawClient): RecoveryAuth => ({
  ...(connectAnswer(client) as { sid: string; pid: string }),
  offset: offsets(client).at(-1)!,
});

export const contentsOf = (client: Received): string[] =>
  client.received<Message>("chat-message").map(({ content }) => content);

/** Posts as a member of its own, which leaves afterwards. */
async function sayIn(room: string, contents: readonly string[]): Promise<void> {
  const ben = await join(room, "ben");
  await Promise.all(contents.map((content) => ben.ask("chat-message", { content })));
  ben.close();
}

/** Ada is in a room and has received some messages. */
export async function begin(options: Parameters<typeof join>[2] = {}): Promise<Story> {
  const room = freshRoom();
  const ada = await join(room, "ada", { ...RECOVERING, ...options });
  const say = (contents: readonly string[]): Promise<void> => sayIn(room, contents);
  await say(HEARD);
  await ada.receives("chat-message", HEARD.length);
  return { room, ada, recoveryAuth: recoveryAuthOf(ada), sleeper: new Sleeper(room), say };
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
  { room, recoveryAuth, say }: Story,
  back: RawClient,
  missed: readonly string[],
): Promise<void> {
  expect(connectAnswer(back)).toEqual({ sid: recoveryAuth.sid, pid: recoveryAuth.pid });
  expect(contentsOf(back)).toEqual(missed);
  const events = back.packets.flatMap(({ type, data }) => (type === PacketType.EVENT ? [(data as string[])[0]] : []));
  expect(events.slice(0, missed.length + 1)).toEqual([...missed.map(() => "chat-message"), "welcome"]);
  const replayed = back.received<Message>("chat-message");
  expect(replayed.map(({ seq }) => seq)).toEqual(missed.map((_, i) => HEARD.length + 1 + i));
  expect(offsets(back, "chat-message")).toEqual(replayed.map(({ id }) => id.replace("-", ".")));
  await say(["afterwards"]);
  await back.receives("chat-message", missed.length + 1);
  expect(contentsOf(back)).toEqual([...missed, "afterwards"]);
  expect(await back.ask("history", { limit: 1 }), room).toMatchObject({ ok: true });
}

/** A fresh connection: another id, and none of the missed messages: REC-3. */
export async function expectFresh(
  { recoveryAuth, say }: Pick<Story, "recoveryAuth" | "say">,
  back: RawClient,
): Promise<void> {
  const { sid, pid } = connectAnswer(back);
  expect(sid).not.toBe(recoveryAuth.sid);
  expect(pid).toBeTypeOf("string");
  expect(pid).not.toBe(recoveryAuth.pid);
  await say(["afterwards"]);
  await back.receives("chat-message");
  expect(contentsOf(back)).toEqual(["afterwards"]);
}

export const drop: Step = async ({ ada }) => {
  ada.close();
  await ada.closes();
};

/** Messages that are stored together. */
const FILL_MESSAGES = 50;

/** So many more messages, as an instance finds them that wakes up. */
export async function fill(
  { room, sleeper }: Pick<Story, "room" | "sleeper">,
  count: number,
  content = "missed",
): Promise<void> {
  await runInDurableObject(stubOf(room), (_instance, { storage }) => {
    const log = openLog(storage, room);
    const sent = { room, sender: "ben", name: "ben", timestamp: Date.now(), id: "", content };
    for (let left = count; left > 0; left -= FILL_MESSAGES) {
      const from = log.lastSeq + 1;
      log.append(Array.from({ length: Math.min(left, FILL_MESSAGES) }, (_, i) => ({ ...sent, seq: from + i })));
    }
  });
  await sleeper.sleep();
}
