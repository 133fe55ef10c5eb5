// Clients, Workers and objects of a kept release talk with those of today: a page that was loaded before a deployment goes on after it, and
// while a release is rolled out, a Worker of one release calls objects of the other.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import type { Connection, Room } from "../../client/core/api.ts";
import { connectRoom } from "../../client/core/room.ts";
import { ask, call, enter, json, tokenOf, type Person } from "../../scripts/keep-release/client.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { clientOf, serve, stopReleases, VERSIONS, type Build, type ClientModule } from "./released.ts";
import { HOST } from "./servers.ts";
import { collect, next } from "./stock-clients.ts";

afterAll(stopReleases);

const ADA: Person = { user: "ada" };
const BEN: Person = { user: "ben" };
const MIA: Person = { user: "mia", role: "moderator" };
const BACKEND: Person = { user: "backend", role: "service" };
const WAIT = { interval: 50 };

interface Pairing {
  readonly what: string;
  readonly client: Build;
  readonly worker: Build;
  readonly objects: Build;
}

/** Of client, Worker and objects, each meets each of the others in the other release. */
const pairingsOf = (version: string): Pairing[] => [
  { what: `the client of ${version}, the server of today`, client: version, worker: "today", objects: "today" },
  {
    what: `the client and Worker of today, the objects of ${version}`,
    client: "today",
    worker: "today",
    objects: version,
  },
  {
    what: `the Worker of ${version}, the client and objects of today`,
    client: "today",
    worker: version,
    objects: "today",
  },
];

let receiver: Server;
const delivered: string[] = [];
beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => delivered.push(chunk.toString()));
    request.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => void receiver.listen(0, HOST, resolve));
});
afterAll(() => void receiver.close());

describe.each(VERSIONS.flatMap(pairingsOf))("$what", ({ client: build, worker, objects }) => {
  let url: string;
  let client: ClientModule;
  let ada: Room;
  let ben: Socket;
  const connections: Connection["state"][] = [];
  beforeAll(async () => {
    const settings = {
      WEBHOOK_URL: `http://${HOST}:${(receiver.address() as AddressInfo).port}/`,
      WEBHOOK_SECRET: "a-secret-of-the-receiver",
    };
    ({ url } = await serve(worker, { objects, settings }));
    client = build === "today" ? { connectRoom } : await clientOf(build);
    ada = client.connectRoom(url, "hall", { token: () => tokenOf(ADA), storage: null });
    ada.on("connection", ({ state }) => connections.push(state));
    ben = await enter(url, "hall", BEN);
    await vi.waitFor(() => expect(ada.connection.state).toBe("connected"), WAIT);
  });
  afterAll(() => {
    ada.close();
    ben.disconnect();
  });

  it("posts, changes and finds messages", async () => {
    const [toAda, toBen]: [Message[], Message[]] = [[], collect<Message>(ben, "chat-message")];
    ada.on("chat-message", (message) => toAda.push(message));
    const { id, seq } = await ada.send("from ada");
    const answer = await ask<{ id: string }>(ben, "chat-message", { content: "from ben", replyTo: id });
    await vi.waitFor(() => {
      for (const heard of [toAda, toBen]) expect(heard.map(({ content }) => content)).toEqual(["from ada", "from ben"]);
    }, WAIT);
    const edited = next(ben, "message-edited");
    expect(await ada.ask("edit-message", { id, content: "from Ada" })).toMatchObject({ ok: true });
    expect(await edited).toMatchObject({ id, seq, content: "from Ada" });
    expect(await ada.ask("react", { id: answer.id, emoji: "👍", on: true })).toMatchObject({ ok: true });
    await ask(ben, "delete-message", { id: answer.id });
    expect(await ada.history()).toMatchObject({
      messages: [
        { content: "from Ada", editedAt: expect.any(Number) },
        { content: "", deleted: true },
      ],
    });
    expect(await ada.search("Ada")).toMatchObject({ messages: [{ id }] });
  });

  it("sees the members, reads and types", async () => {
    expect(await ada.presence()).toMatchObject({ ok: true, count: 2 });
    const [typing, read] = [next(ben, "typing"), next(ben, "read")];
    await ada.ask("typing", { on: true });
    expect(await typing).toMatchObject({ user: "ada", on: true });
    await ada.ask("read", { seq: 1 });
    expect(await read).toMatchObject({ user: "ada", seq: 1 });
  });

  it("uploads and reads a file", async () => {
    const attachment = await ada.upload(new Blob(["some text"], { type: "text/plain" }), { name: "notes.txt" });
    await ada.send("with a file", { attachment });
    expect(await (await ada.download(attachment)).text()).toBe("some text");
  });

  it("serves a backend", async () => {
    const post = await call(url, BACKEND, "/api/rooms/hall/messages", json("POST", { content: "from the backend" }));
    const { id } = (await post.json()) as { id: string };
    await call(url, BACKEND, `/api/rooms/hall/messages/${id}`, json("PATCH", { content: "from a backend" }));
    for (const path of [
      "",
      "/messages",
      "/members",
      "/moderation",
      "/audit",
      "/stats",
      "/links",
      "/search?query=backend",
    ])
      expect(await (await call(url, BACKEND, `/api/rooms/hall${path}`)).text(), path).not.toBe("");
    expect(await (await call(url, BACKEND, "/api/rooms/hall/export")).text()).toContain("from a backend");
    expect(await (await fetch(`${url}/metrics`)).text()).toContain("parley_");
    await vi.waitFor(async () => {
      expect(await (await call(url, BACKEND, "/api/rooms")).json()).toMatchObject({ rooms: [{ room: "hall" }] });
    }, WAIT);
  });

  it("passes messages on to linked rooms, announcements to rooms and users, and events to a webhook", async () => {
    await call(url, BACKEND, "/api/rooms/hall/links", json("POST", { to: "annex" }));
    await ada.send("for both rooms");
    await vi.waitFor(async () => {
      expect(await (await call(url, BACKEND, "/api/rooms/annex/messages")).text()).toContain("for both rooms");
    }, WAIT);
    for (const to of [{ rooms: ["hall"] }, { users: ["ben"] }]) {
      const announcement = next(ben, "announcement");
      await call(url, BACKEND, "/api/announce", json("POST", { ...to, data: to }));
      expect(await announcement).toMatchObject({ data: to });
    }
    await vi.waitFor(() => expect(delivered.join()).toContain("for both rooms"), WAIT);
  });

  it("comes back after a drain, with the messages of that time", async () => {
    connections.length = 0;
    await call(url, BACKEND, "/api/drain", json("POST", { rooms: ["hall"], reconnectWithinMs: 1000 }));
    const heard: Message[] = [];
    ada.on("chat-message", (message) => heard.push(message));
    await call(url, BACKEND, "/api/rooms/hall/messages", json("POST", { content: "meanwhile" }));
    await vi.waitFor(() => expect(heard.map(({ content }) => content)).toEqual(["meanwhile"]), WAIT);
    await vi.waitFor(() => expect(connections.at(-1)).toBe("connected"), WAIT);
    expect(connections).toContain("waiting");
  });

  it("obeys moderators, and the end of the room", async () => {
    const mia = await enter(url, "hall", MIA);
    await vi.waitFor(() => expect(ben.connected).toBe(true), WAIT);
    const notice = next(ben, "notice");
    await ask(mia, "ban", { user: "ben", reason: "test" });
    expect(await notice).toMatchObject({ code: "BANNED" });
    await ask(mia, "mute", { user: "ada", seconds: 60 });
    await expect(ada.send("hello?")).rejects.toMatchObject({ code: "MUTED" });
    mia.disconnect();
    await call(url, BACKEND, "/api/rooms/hall", { method: "DELETE" });
    await vi.waitFor(
      async () =>
        expect(await (await call(url, BACKEND, "/api/rooms/hall/messages")).json()).toMatchObject({ messages: [] }),
      WAIT,
    );
  });
});
