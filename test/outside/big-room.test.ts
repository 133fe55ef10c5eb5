// A room with more members than one object holds, on a real server: stock clients in the room and in its shards, who cannot tell the
// difference; growth and its end. killed.test.ts has the server killed meanwhile.
import type { Socket } from "socket.io-client";
import { describe, expect, it, vi } from "vitest";

import type { RoomStats } from "../../src/protocol/watching.ts";
import type { HistoryAnswer, Message, Notice, PostAnswer } from "../../src/protocol/chat-events.ts";
import { builtClient } from "./built-client.ts";
import { useServer } from "./stage.ts";
import { ask, collect, contents, fill, join, next, tokenFor } from "./stock-clients.ts";

const WAIT = { interval: 20 };

const server = await useServer({ MAX_MEMBERS: "2", MAX_SHARDS: "4", MESSAGE_RATE: "1000", MESSAGE_BURST: "1000" });

/** The shard that holds a socket; `room` where none does. */
const placeOf = ({ id }: Socket): string => /^(\d+)~/.exec(id ?? "")?.[1] ?? "room";

describe.concurrent("a room with shards", () => {
  it("takes members beyond MAX_MEMBERS, and all of them post and see everything once and in order", async () => {
    const members = await fill(server.url, "hall", 8);
    expect(new Set(members.map(({ socket }) => placeOf(socket)))).toEqual(new Set(["room", "0", "1", "2"]));
    const posts = await Promise.all(
      members.flatMap(({ socket }, i) =>
        [1, 2, 3].map((n) =>
          ask<PostAnswer>(socket, "chat-message", { content: `${i}.${n}`, clientMsgId: `${i}.${n}` }),
        ),
      ),
    );
    for (const post of posts) expect(post).toMatchObject({ ok: true });
    await vi.waitFor(() => {
      for (const { heard } of members) expect(heard).toHaveLength(posts.length);
    }, WAIT);
    const seqs = posts.map((_, i) => i + 1);
    for (const { heard } of members) {
      expect(heard.map(({ seq }) => seq)).toEqual(seqs);
      expect(contents(heard)).toEqual(contents(members[0]!.heard));
    }
    const history = await ask<HistoryAnswer>(members[7]!.socket, "history", { limit: 50 });
    expect("messages" in history && contents(history.messages)).toEqual(contents(members[0]!.heard));
  });

  it("tells operators how many connections it has, and where they are", async () => {
    const members = await fill(server.url, "gallery", 7);
    const headers = { Authorization: `Bearer ${await tokenFor("olga", { role: "service" })}` };
    const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
    await vi.waitFor(async () => {
      const stats = await fetch(`${server.url}/api/rooms/gallery/stats`, { headers });
      const { connectionCount, connections, shards } = (await stats.json()) as RoomStats;
      expect([connectionCount, connections.length]).toEqual([members.length, 2]);
      expect(sum(shards!.map(({ sockets }) => sockets))).toBe(5);
    }, WAIT);
  });

  it("kicks a member of a shard, for whom the token of that room opens nothing else", async () => {
    const members = await fill(server.url, "order", 4);
    const mod = await join(server.url, "order", "mod", {
      auth: { token: await tokenFor("mod", { role: "moderator" }) },
    });
    const { socket } = members[3]!;
    expect(placeOf(socket)).not.toBe("room");
    const [notice, disconnected] = [next<Notice>(socket, "notice"), next<string>(socket, "disconnect")];
    expect(await ask(mod, "kick", { user: "user-3", reason: "spam" })).toMatchObject({ ok: true });
    expect(await notice).toMatchObject({ code: "KICKED" });
    expect(await disconnected).toBe("io server disconnect");
  });

  it("recovers a member of a shard whose connection broke", async () => {
    const members = await fill(server.url, "back", 5);
    const { socket, heard } = members[4]!;
    const { id } = socket;
    await ask(members[0]!.socket, "chat-message", { content: "1" });
    await vi.waitFor(() => expect(contents(heard)).toEqual(["1"]), WAIT);
    socket.io.engine.close();
    await ask(members[0]!.socket, "chat-message", { content: "2" });
    await vi.waitFor(() => expect(contents(heard)).toEqual(["1", "2"]), WAIT);
    expect(socket.recovered).toBe(true);
    expect(socket.id).toBe(id);
  });

  it("holds members with the client of this project, whose queued messages arrive once", async () => {
    await fill(server.url, "own", 3);
    const { connectRoom } = await builtClient();
    const room = connectRoom(server.url, "own", { token: () => tokenFor("cli") });
    const heard: Message[] = [];
    room.on("chat-message", (message) => heard.push(message));
    for (let i = 0; i < 5; i++) void room.send(`${i}`);
    await vi.waitFor(() => expect(contents(heard)).toEqual(["0", "1", "2", "3", "4"]), WAIT);
    room.close();
  });

  it("announces to everybody", async () => {
    const members = await fill(server.url, "news", 5);
    const heard = members.map(({ socket }) => collect<unknown>(socket, "news"));
    const response = await fetch(new URL("/api/announce", server.url), {
      method: "POST",
      headers: {
        Authorization: `Bearer ${await tokenFor("backend", { role: "service" })}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ rooms: ["news"], event: "news", data: "hello" }),
    });
    expect(response.status).toBe(202);
    await vi.waitFor(() => expect(heard).toEqual(members.map(() => ["hello"])), WAIT);
  });
});
