// Tests `GET /api/unread` through Worker, lobby and rooms: LOB-9
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, onTestFinished, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
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
type Caller = ReturnType<typeof asMember> | { readonly role: "service"; readonly user: string };
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

it("SRCH-11: finds messages in the user's rooms, room by room, and asks no room but those of theirs that the token opens", async () => {
  const [one, two, other] = [freshRoom(), freshRoom(), freshRoom()];
  const [ada, ben] = [newUser("ada"), newUser("ben")];
  for (const room of [one, two]) await join(room, ada);
  const opened = await callApi("POST", "/api/dms", { as: asMember(ben), body: { user: ada } });
  const between = opened.body.room as string;
  await join(between, ada);
  for (const [room, text] of [
    [one, "first needle"],
    [other, "needle elsewhere"],
    [two, "second needle"],
    [between, "needle between us"],
    [one, "third needle"],
  ] as const)
    await (await join(room, ben)).ask("chat-message", { content: text });
  await vi.waitFor(async () => expect(await unreadOf(ada)).toEqual({ [one]: 2, [two]: 1, [between]: 1 }));
  const find = async (query: string, as: Caller = asMember(ada)): Promise<unknown[]> => {
    const { status, body } = await callApi("GET", `/api/search?${query}`, { as });
    expect([status, body.ok]).toEqual([200, true]);
    return (body.rooms as Array<{ room: string; messages?: Message[]; error?: { code: string } }>).map(
      ({ room, messages, error }) => [room, error?.code ?? messages!.map(({ content }) => content)],
    );
  };
  const hits = { [one]: ["third needle", "first needle"], [two]: ["second needle"], [between]: ["needle between us"] };
  expect(await find("query=needle")).toEqual([one, between, two].map((room) => [room, hits[room]]));
  expect(await find("query=needle", asMember(ada, [two]))).toEqual([[two, hits[two]]]);
  expect(await find(`query=needle&rooms=${two},${other},${one}`)).toEqual([
    [two, hits[two]],
    [other, "NOT_FOUND"],
    [one, hits[one]],
  ]);
  expect(await find("query=no-such-word")).toEqual([one, between, two].map((room) => [room, []]));
  expect(await find(`query=needle&limit=1&rooms=${one}`)).toEqual([[one, ["third needle"]]]);
  expect(await find(`query=needle&before=2&rooms=${one}`)).toEqual([[one, ["first needle"]]]);
  // DM-3: a service that acts for a user reads no conversation of theirs.
  const service = { role: "service", user: "backend" } as const;
  expect(await find(`query=needle&as=${ada}`, service)).toEqual([one, two].map((room) => [room, hits[room]]));
  expect(await find(`query=needle&as=${ada}&rooms=${between}`, service)).toEqual([[between, "NOT_FOUND"]]);
  expect(await find("query=needle", asMember(newUser("zoe")))).toEqual([]);
});

it("SRCH-11: a search that is none, or not the user's, is refused", async () => {
  const ada = asMember(newUser("ada"));
  const names = (count: number): string => Array.from({ length: count }, (_, n) => `r${n}`).join(",");
  for (const query of [
    "",
    "query=",
    "query=%22",
    `query=${"x".repeat(300)}`,
    "query=a&limit=51",
    "query=a&limit=0",
    "query=a&rooms=",
    "query=a&rooms=a,",
    "query=a&rooms=%2F",
    "query=a&before=-1",
    `query=a&rooms=${names(21)}`,
  ]) {
    const { status, body } = await callApi("GET", `/api/search?${query}`, { as: ada });
    expect([query, status, body.error.code]).toEqual([query, 400, "INVALID_PAYLOAD"]);
  }
  const { body } = await callApi("GET", `/api/search?query=a&rooms=${names(20)}`, { as: ada });
  expect(body.rooms).toHaveLength(20);
  expect((await callApi("GET", "/api/search?query=a&as=ben", { as: ada })).status).toBe(403);
  expect((await callApi("GET", "/api/search?query=a", { as: null })).status).toBe(401);
});
