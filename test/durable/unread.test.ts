// Tests `GET /api/unread` through Worker, lobby and rooms: LOB-9
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, onTestFinished, vi } from "vitest";

import { lobbyOf } from "../../src/protocol/room-list.ts";
import { packUnread, readerMark } from "../../src/protocol/unread.ts";
import { evict, TestClock } from "../kit/testing.ts";
import { callApi } from "./api-caller.ts";
import { freshRoom, join, stubOf, useSettings } from "./rooms.ts";

useSettings({ API_RATE: "1000", API_BURST: "1000", MESSAGE_RATE: "1000", MESSAGE_BURST: "1000" });

interface Listed {
  readonly rooms: ReadonlyArray<{ readonly room: string; readonly unread: number }>;
  readonly version: string;
}

const asMember = (user: string, rooms?: readonly string[]) =>
  ({ role: "member", user, ...(rooms && { rooms }) }) as const;
const list = async (user: string, query = "", rooms?: readonly string[]): Promise<Listed> => {
  const { status, body } = await callApi("GET", `/api/unread${query}`, { as: asMember(user, rooms) });
  expect(status).toBe(200);
  return body;
};
const unreadOf = async (user: string): Promise<Record<string, number>> =>
  Object.fromEntries((await list(user)).rooms.map(({ room, unread }) => [room, unread]));
const newUser = (name: string): string => `${name}-${freshRoom()}`;

it("lists the rooms that the user has been in, and those alone that the token opens", async () => {
  const [one, two] = [freshRoom(), freshRoom()];
  const [ada, ben] = [newUser("ada"), newUser("ben")];
  for (const room of [one, two]) await join(room, ada);
  const here = await join(one, ben);
  await here.ask("chat-message", { content: "hello" });
  await vi.waitFor(async () => expect(await unreadOf(ada)).toEqual({ [one]: 1, [two]: 0 }));
  expect(await unreadOf(ben)).toEqual({ [one]: 0 });
  expect(await unreadOf(newUser("zoe"))).toEqual({});
  expect((await list(ada, "", [two])).rooms.map(({ room }) => room)).toEqual([two]);
  expect((await callApi("GET", "/api/unread", { as: null })).status).toBe(401);
  for (const wait of ["26", "-1", "x", "1.5"])
    expect((await callApi("GET", `/api/unread?wait=${wait}`, { as: asMember(ada) })).status).toBe(400);
});

it("waits for the next change, and brings all of a burst soon", async () => {
  const room = freshRoom();
  const [ada, ben] = [newUser("ada"), newUser("ben")];
  const reader = await join(room, ada);
  const writer = await join(room, ben);
  let { version } = await list(ada);
  const next = async (): Promise<number | undefined> => {
    const answer = await list(ada, `?wait=25&since=${encodeURIComponent(version)}`);
    ({ version } = answer);
    return answer.rooms[0]?.unread;
  };
  const seen: Array<number | undefined> = [];
  const following = (async () => {
    while (seen.at(-1) !== 20) seen.push(await next());
  })();
  for (let n = 0; n < 20; n++) expect(await writer.ask("chat-message", { content: `${n}` })).toHaveProperty("ok");
  await following;
  expect(seen.length).toBeLessThan(20);
  const cleared = next();
  await reader.ask("read", { seq: 20 });
  expect(await cleared).toBe(0);
});

it("wakes no room that sleeps, and outlives a sleep of the lobby", async () => {
  const room = freshRoom();
  const [ada, ben] = [newUser("ada"), newUser("ben")];
  await join(room, ada);
  const writer = await join(room, ben);
  await writer.ask("chat-message", { content: "hello" });
  await vi.waitFor(async () => expect(await unreadOf(ada)).toEqual({ [room]: 1 }));
  const clock = new TestClock();
  onTestFinished(() => clock.stop());
  // A busy lobby stores once a minute.
  await clock.advance(61_000);
  await writer.ask("chat-message", { content: "hello again" });
  const lobby = env.LOBBY.getByName(lobbyOf(room, 1));
  const stored = (): Promise<string> =>
    runInDurableObject(lobby, (_object, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT body FROM room_pages").toArray()),
    );
  await vi.waitFor(async () => expect(await stored()).toContain(packUnread([[readerMark(ada), 2]])));
  // The lobby first answers the reports of rooms of other tests.
  await vi.waitFor(() => evict(lobby));
  const id = await runInDurableObject(stubOf(room), (object) => object);
  await evict(stubOf(room), "hibernate");
  for (let n = 0; n < 3; n++) expect(await unreadOf(ada)).toEqual({ [room]: 2 });
  expect(await runInDurableObject(stubOf(room), (object) => object)).not.toBe(id);
});

it("SRCH-10: lists what mentions the user over their rooms, and asks no room but those of theirs that the token opens", async () => {
  const [one, two, other] = [freshRoom(), freshRoom(), freshRoom()];
  const [ada, ben] = [newUser("ada"), newUser("ben")];
  for (const room of [one, two]) await join(room, ada);
  const posts: Array<readonly [string, string]> = [
    [one, "first"],
    [two, "second"],
    [other, "elsewhere"],
    [one, "third"],
  ];
  for (const [room, text] of posts) await (await join(room, ben)).ask("chat-message", { content: `${text} @<${ada}>` });
  await vi.waitFor(async () => expect(await unreadOf(ada)).toEqual({ [one]: 2, [two]: 1 }));
  expect((await list(ada)).rooms).toMatchObject([{ mentions: 2 }, { mentions: 1 }]);
  const mentions = async (query = "", rooms?: readonly string[]): Promise<string[]> => {
    const { body } = await callApi("GET", `/api/mentions${query}`, { as: asMember(ada, rooms) });
    expect(body).toMatchObject({ ok: true, isComplete: true });
    return (body.messages as Array<{ room: string; content: string }>).map(({ content }) => content.split(" ")[0]!);
  };
  expect(await mentions()).toEqual(["third", "second", "first"]);
  expect(await mentions("?limit=1")).toEqual(["third"]);
  expect(await mentions(`?room=${two}`)).toEqual(["second"]);
  expect(await mentions("", [two])).toEqual(["second"]);
  expect(await mentions(`?room=${other}`)).toEqual([]);
  expect((await callApi("GET", "/api/mentions", { as: null })).status).toBe(401);
});
