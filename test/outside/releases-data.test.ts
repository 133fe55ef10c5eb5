// Opens the data that each release left behind with the code of today: nothing of it is lost, and people go on where they were. Then the
// release gets its data back, as after a deployment that was taken back. Where it fails, mend the code, or add a migration; only what was kept of
// the data of a release that is not out yet is made again (scripts/keep-release.ts).
import { setTimeout as pause } from "node:timers/promises";

import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import {
  arrive,
  ask,
  call,
  enter,
  json,
  meetingPath,
  sitDown,
  tokenOf,
  type Person,
} from "../../scripts/keep-release/client.ts";
import { keepsOf } from "../../scripts/keep-release/kept.ts";
import { askAgain, type Left } from "../../scripts/keep-release/story.ts";
import type { Message, PostAnswer, Welcome } from "../../src/protocol/chat-events.ts";
import { keptOf, serve, stateOf, stopReleases, VERSIONS } from "./released.ts";
import { collect, next, open, type Options } from "./stock-clients.ts";
import type { TestServer } from "./servers.ts";

afterAll(stopReleases);

const ADA: Person = { user: "ada" };
const MIA: Person = { user: "mia", role: "moderator" };
const BACKEND: Person = { user: "backend", role: "service" };

/** A stock client with the private id of an earlier connection, before it connects. */
function comeBack(url: string, options: Options, { pid, offset }: Left): Socket {
  const socket = open(url, { ...options, autoConnect: false });
  Object.assign(socket, { _pid: pid, _lastOffset: offset });
  return socket;
}

const refusalOf = (answer: unknown): string | undefined =>
  (answer as { readonly error?: { readonly code: string } }).error?.code;

describe.each(VERSIONS)("the data of release %s", (version) => {
  const kept = keptOf(version);
  let stateDir: string;
  let server: TestServer;
  let url: string;
  beforeAll(async () => {
    stateDir = stateOf(version);
    server = await serve("today", { stateDir });
    ({ url } = server);
  });

  const messagesOf = async (room: string, query = ""): Promise<Message[]> => {
    const answer = await call(url, BACKEND, `/api/rooms/${room}/messages${query}`);
    return ((await answer.json()) as { messages: Message[] }).messages;
  };

  it.each(kept.answers)("is read: $path", async ({ answer, ...question }) => {
    const today = await askAgain(url, question);
    for (const [was, is] of keepsOf(answer, today)) expect(is).toEqual(was);
  });

  it("recovers a client that was connected, with its missed events", async () => {
    const ben = await enter(url, "handbook", { user: "ben" });
    for (const content of ["missed 1", "missed 2"]) {
      await ask(ben, "chat-message", { content });
      // The room is in slow mode.
      await pause(1000);
    }
    const auth = { token: await tokenOf(ADA) };
    const ada = comeBack(url, { path: "/rooms/handbook/socket.io", auth }, kept.left.ada);
    const heard = collect<Message>(ada, "chat-message");
    ada.connect();
    await vi.waitFor(() => expect(heard.map(({ content }) => content)).toEqual(["missed 1", "missed 2"]));
    expect(ada.recovered).toBe(true);
    ben.disconnect();
  });

  it("recovers a client of another application, with its channels and data", async () => {
    const other = await sitDown(url, "weekly", "window");
    await other.emitWithAck("say", "missed since");
    const guest = comeBack(url, { path: meetingPath("weekly") }, kept.left.guest);
    const heard = collect<string>(guest, "said");
    guest.connect();
    const missed = ["missed before the deployment", "missed since"];
    await vi.waitFor(() => expect(heard).toEqual(missed));
    expect(guest.recovered).toBe(true);
    await guest.emitWithAck("say", "back at the window");
    await vi.waitFor(() => expect(heard).toEqual([...missed, "back at the window"]));
    other.disconnect();
  });

  it("holds sanctions and roles", async () => {
    const zoe = open(url, {
      path: "/rooms/handbook/socket.io",
      auth: { token: await tokenOf({ user: "zoe" }) },
      reconnection: false,
    });
    expect(await next<{ data: object }>(zoe, "connect_error")).toMatchObject({ data: { code: "BANNED" } });
    const [tom, rea, ben, mia] = (await Promise.all(
      [{ user: "tom" }, { user: "rea" }, { user: "ben" }, MIA].map((person) => enter(url, "handbook", person)),
    )) as [Socket, Socket, Socket, Socket];
    const post = (socket: Socket): Promise<PostAnswer> => socket.emitWithAck("chat-message", { content: "hello" });
    expect(refusalOf(await post(tom))).toBe("MUTED");
    expect(refusalOf(await post(rea))).toBe("FORBIDDEN");
    await ask(ben, "slow-mode", { seconds: 0 });
    await ask(mia, "unmute", { user: "tom" });
    expect(await post(tom)).toMatchObject({ ok: true });
    for (const socket of [tom, rea, ben, mia]) socket.disconnect();
  });

  it("is gone on with: seqs, edits, deletions, search, links and direct messages", async () => {
    const [newest] = await messagesOf("archive", "?limit=1");
    const ada = await enter(url, "archive", ADA);
    const mia = await enter(url, "archive", MIA);
    const { seq } = await ask<{ seq: number }>(ada, "chat-message", { content: "page of today" });
    expect(seq).toBe(newest!.seq + 1);
    const [first, second] = await messagesOf("archive", "?after=0&limit=2");
    await ask(ada, "edit-message", { id: first!.id, content: "a leaf of 2026" });
    await ask(mia, "delete-message", { id: second!.id });
    const found = await ask<{ messages: Message[] }>(ada, "search", { query: "leaf" });
    expect(found.messages.map(({ id }) => id)).toEqual([first!.id]);
    expect((await messagesOf("archive", "?after=0&limit=2")).map(({ content }) => content)).toEqual([
      "a leaf of 2026",
      "",
    ]);

    await call(url, BACKEND, "/api/rooms/source/messages", json("POST", { content: "passed on today" }));
    await vi.waitFor(async () => expect((await messagesOf("annex")).at(-1)?.content).toBe("passed on today"));
    const answer = await call(url, ADA, "/api/dms", json("POST", { user: "ben" }));
    const letters = await enter(url, ((await answer.json()) as { room: string }).room, { user: "ben" });
    expect(await ask(letters, "history", {})).toMatchObject({ messages: [{ content: "only for ben" }] });
    letters.disconnect();
    for (const socket of [ada, mia]) socket.disconnect();
  });

  it("sends a new member its present state", async () => {
    const { user } = ADA;
    const newest = (await messagesOf("annex")).at(-1)!;
    const socket = open(url, { path: "/rooms/annex/socket.io", auth: { token: await tokenOf(ADA) } });
    expect(await next<Welcome>(socket, "welcome")).toMatchObject({
      room: "annex",
      user,
      lastSeq: newest.seq,
      lastId: newest.id,
    });
  });

  it("shows its pins", async () => {
    const { socket, welcome } = await arrive(url, "handbook", ADA);
    expect(welcome).toMatchObject({ pins: kept.pins });
    socket.disconnect();
  });

  it("goes back to the release, which reads it, or refuses it unharmed", async () => {
    const before = await messagesOf("archive");
    await server.end();
    const former = await serve(version, { stateDir });
    const path = `${former.url}/api/rooms/archive/messages`;
    const answer = await fetch(path, { headers: { Authorization: `Bearer ${await tokenOf(BACKEND)}` } });
    if (answer.status !== 503) expect(await answer.json()).toMatchObject({ messages: before });
    await former.end();
    const again = await serve("today", { stateDir });
    ({ url } = again);
    expect(await messagesOf("archive")).toEqual(before);
  });
});
