// The activity in the rooms that are kept of a release: it makes them store something of each kind. Called by keep-release.ts.
import { setTimeout as pause } from "node:timers/promises";

import type { Socket } from "socket.io-client";

import { connectRoom } from "../../client/core/room.ts";
import { arrive, ask, call, enter, json, sitDown, tokenOf, type Person } from "./client.ts";

const ADA: Person = { user: "ada" };
const BEN: Person = { user: "ben" };
const TOM: Person = { user: "tom" };
const MIA: Person = { user: "mia", role: "moderator" };
const BACKEND: Person = { user: "backend", role: "service" };

/** Ten years: longer than any release is served. */
const LONG_SECONDS = 10 * 365 * 86_400;

/** A part of a search index, and more than the search leaves unindexed. */
const ARCHIVED = 3200;
const ARCHIVED_AT_ONCE = 50;

/** One pixel. */
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const SETTLED_MS_MAX = 60_000;

const HURRIED = 80;
const HURRY_MS = 50;

/** The lobby stores reports within a minute. */
const LOBBY_SAVE_MS = 65_000;

/** A request of the HTTP API, whose answer a later release has to give as well. */
export interface Question {
  readonly as: Person;
  readonly path: string;
  /** Of a POST. */
  readonly body?: object;
}

/** @returns the text of the answer */
export async function askAgain(url: string, { as, path, body }: Question): Promise<string> {
  return (await call(url, as, path, body && json("POST", body))).text();
}

/** The connection of a client that comes back. */
export interface Left {
  readonly pid: string;
  readonly offset: string;
}

interface Posted {
  readonly id: string;
  readonly seq: number;
}

/** Connected until the server ends: ada in the handbook, and a guest at a table of a meeting. */
export interface Staying {
  readonly left: Record<"ada" | "guest", Left>;
  /** Of the handbook, as its `welcome` shows them. */
  readonly pins: unknown;
  readonly hangUp: () => void;
}

/** The room of which the attachments are kept. */
export const GATHERING = "gathering";

/** A room that is busy, where `DURABILITY` is `relaxed`. @returns the questions to ask */
export async function hurry(url: string): Promise<Question[]> {
  const ada = await enter(url, "busy", ADA);
  const posts: Array<Promise<object>> = [];
  for (let at = 1; at <= HURRIED; at++) {
    posts.push(ask(ada, "chat-message", { content: `quick ${at}` }));
    await pause(HURRY_MS);
  }
  await Promise.all(posts);
  ada.disconnect();
  return [{ as: BACKEND, path: "/api/rooms/busy/messages?limit=100" }];
}

/** Lives through the story, at the end of which all people have left. @returns the questions to ask then */
export async function live(url: string): Promise<Question[]> {
  const [of, annex, archive, announced, direct] = await Promise.all([
    handbook(url),
    linked(url),
    archived(url),
    announcedIn(url),
    call(url, ADA, "/api/dms", json("POST", { user: "ben" })).then(
      (answer) => answer.json() as Promise<{ room: string }>,
    ),
  ]);
  const letter = await enter(url, direct.room, ADA);
  await ask(letter, "chat-message", { content: "only for ben" });
  letter.disconnect();
  // The lobby has not heard of this room yet.
  (await enter(url, "busy", ADA)).disconnect();
  await isSettled(url, direct.room);
  await pause(LOBBY_SAVE_MS);
  const backend = [...of, ...annex, ...archive, ...announced].map((path) => ({ as: BACKEND, path }));
  const reports = "/api/rooms/handbook/events/reports";
  return [...backend, { as: ADA, path: "/api/dms" }, { as: MIA, path: reports, body: { payload: { state: "open" } } }];
}

/** People come who stay to the end: two of them in a room of their own, with a stock client, and with this project's own. */
export async function stay(url: string): Promise<Staying> {
  const { socket: lost, welcome } = await arrive(url, "handbook", ADA);
  const seats = ["window", "window", "door"].map((table) => sitDown(url, "weekly", table));
  const [guest, other, stranger] = (await Promise.all(seats)) as [Socket, Socket, Socket];
  const heard = new Promise((resolve) => void guest.once("said", resolve));
  await other.emitWithAck("say", "heard");
  await heard;
  const left = { ada: leftBy(lost), guest: leftBy(guest) };
  // A namespace with a log of its own.
  const aside = await sitDown(url, "weekly", "window", "/aside");
  await aside.emitWithAck("say", "aside");
  await stranger.emitWithAck("say", "at another table");
  await other.emitWithAck("say", "missed before the deployment");
  for (const socket of [other, stranger, aside]) socket.disconnect();
  const ada = await enter(url, GATHERING, ADA);
  const ben = connectRoom(url, GATHERING, { token: () => tokenOf(BEN), storage: null });
  const { seq } = await ben.send("who is here?");
  await ben.ask("read", { seq });
  await ask(ada, "read", { seq });
  const hangUp = (): void => {
    for (const socket of [lost, ada, guest]) socket.disconnect();
    ben.close();
  };
  return { left, pins: welcome["pins"], hangUp };
}

/** Messages of every kind, their changes, and the moderation of a room. */
async function handbook(url: string): Promise<string[]> {
  const room = "/api/rooms/handbook";
  const [ada, ben, tom, mia] = (await Promise.all(
    [ADA, BEN, TOM, MIA].map((person) => enter(url, "handbook", person)),
  )) as [Socket, Socket, Socket, Socket];
  const post = (socket: Socket, content: string, more: object = {}): Promise<Posted> =>
    ask<Posted>(socket, "chat-message", { content, ...more });

  const first = await post(ada, "Apples are in the kitchen \u{1F34E}", { clientMsgId: "the first" });
  const reply = await post(ben, "Thank you, @ada", { replyTo: first.id });
  await ask(ben, "edit-message", { id: reply.id, content: "Thanks, @ada" });
  await ask(ben, "edit-message", { id: reply.id, content: "Many thanks, @ada" });
  for (const [socket, emoji] of [
    [ada, "👍"],
    [tom, "👍"],
    [mia, "🎉"],
  ] as const)
    await ask(socket, "react", { id: reply.id, emoji, on: true });
  const wrong = await post(tom, "to be deleted");
  await ask(tom, "delete-message", { id: wrong.id });
  const rude = await post(tom, "rude");
  await ask(mia, "delete-message", { id: rude.id });
  await ask(mia, "edit-message", { id: first.id, content: "Apples are in the cellar" });
  await Promise.all(Array.from({ length: 10 }, (_, at) => post(at % 2 ? ada : ben, `quick ${at}`)));

  const upload = await call(url, ADA, `${room}/files?name=dot.png`, {
    method: "POST",
    headers: { "Content-Type": "image/png" },
    body: PICTURE,
  });
  const { attachment } = (await upload.json()) as { readonly attachment: { readonly key: string } };
  await post(ada, "a picture", { attachment });
  await call(url, BACKEND, `${room}/messages`, {
    ...json("POST", { content: "Order 17 was paid", as: { user: "shop", name: "The shop" } }),
    headers: { "Content-Type": "application/json", "Idempotency-Key": "order-17" },
  });

  await ask(ada, "read", { seq: reply.seq });
  await ask(ben, "read", { seq: rude.seq });
  await ask(mia, "ban", { user: "zoe", reason: "spam" });
  await ask(mia, "ban", { user: "yan", seconds: LONG_SECONDS });
  await ask(mia, "mute", { user: "tom", seconds: LONG_SECONDS, reason: "rude" });
  await ask(mia, "grant", { user: "ben", role: "moderator" });
  await ask(mia, "grant", { user: "rea", role: "reader" });
  for (const { id } of [first, reply]) await ask(mia, "pin", { id });
  await ask(ada, "report-message", { id: reply.id, reason: "not kind" });
  await ask(mia, "slow-mode", { seconds: 1 });
  await ask(mia, "describe", { name: "Apples & pears", topic: "What grows, and who picks it" });
  for (const socket of [ada, ben, tom, mia]) socket.disconnect();
  return [
    room,
    `${room}/messages?limit=100`,
    `${room}/messages?after=0&limit=5`,
    `${room}/messages/${first.id}`,
    `${room}/messages/${wrong.id}`,
    `${room}/messages/${reply.id}/versions`,
    `${room}/messages/${reply.id}/reactions`,
    `${room}/moderation`,
    `${room}/audit`,
    `${room}/search?query=apples`,
    `${room}/export`,
    `/files/${encodeURIComponent(attachment.key)}`,
  ];
}

/** A room that mirrors its messages in another one. */
async function linked(url: string): Promise<string[]> {
  await call(url, BACKEND, "/api/rooms/source/links", json("POST", { to: "annex" }));
  const ada = await enter(url, "source", ADA);
  const { id } = await ask<Posted>(ada, "chat-message", { content: "for both rooms" });
  await ask(ada, "edit-message", { id, content: "for all rooms" });
  ada.disconnect();
  await until("the link has passed it on", async () =>
    (await (await call(url, BACKEND, "/api/rooms/annex/messages")).text()).includes("for all rooms"),
  );
  return ["/api/rooms/source/links", "/api/rooms/annex/links", "/api/rooms/annex/messages"];
}

/** A long log, of which the older part is indexed. */
async function archived(url: string): Promise<string[]> {
  const ada = await enter(url, "archive", ADA);
  for (let first = 1; first <= ARCHIVED; first += ARCHIVED_AT_ONCE)
    await Promise.all(
      Array.from({ length: ARCHIVED_AT_ONCE }, (_, at) => ask(ada, "chat-message", { content: `page ${first + at}` })),
    );
  ada.disconnect();
  const found = ["page+17", "17"].map((query) => `/api/rooms/archive/search?query=${query}&limit=50`);
  for (const path of found) await call(url, BACKEND, path);
  return [...found, "/api/rooms/archive/messages?before=3", "/api/rooms/archive/messages?limit=2"];
}

/** An announcement, and one that the room refused for good. */
async function announcedIn(url: string): Promise<string[]> {
  const announce = async (body: object): Promise<string> => {
    const answer = await call(url, BACKEND, "/api/announce", json("POST", body));
    return ((await answer.json()) as { readonly id: string }).id;
  };
  const good = await announce({ rooms: ["annex"], data: { news: true } });
  const bad = await announce({ rooms: ["annex"], event: "chat-message", data: { content: "a forbidden word" } });
  const paths = [good, bad].map((id) => `/api/announce/${id}`);
  await until("both announcements are over", async () => {
    const answers = await Promise.all(paths.map(async (path) => (await call(url, BACKEND, path)).text()));
    return answers.every((answer) => answer.includes('"done":true'));
  });
  return [...paths, "/api/relay/dead", "/api/rooms"];
}

/** The CONNECT of a stock client that comes back. */
function leftBy(socket: Socket): Left {
  const { _pid: pid, _lastOffset: offset } = socket as unknown as { _pid: string; _lastOffset: string };
  return { pid, offset };
}

/** The lobby knows that all people have left, and the newest message of each room. */
async function isSettled(url: string, direct: string): Promise<void> {
  type Listed = Record<"rooms" | "dms", ReadonlyArray<{ room: string; members?: number; lastSeq: number }>>;
  const listed = async (as: Person, path: string): Promise<Listed> =>
    (await (await call(url, as, path)).json()) as Listed;
  await until("the lobby knows all", async () => {
    const { rooms } = await listed(BACKEND, "/api/rooms");
    const { dms } = await listed(ADA, "/api/dms");
    const isKnown = dms.some(({ room, lastSeq }) => room === direct && lastSeq === 1);
    return isKnown && rooms.length === 5 && rooms.every(({ members, lastSeq }) => members === 0 && lastSeq > 0);
  });
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + SETTLED_MS_MAX;
  while (!(await isTrue())) {
    if (Date.now() > deadlineMs) throw new Error(`not within ${SETTLED_MS_MAX} ms: ${what}`);
    await pause(200);
  }
}
