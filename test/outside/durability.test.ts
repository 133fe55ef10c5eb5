// Tests that acked messages survive servers that are killed in mid-traffic.
import type { Socket } from "socket.io-client";
import { afterAll, describe, expect, it, vi } from "vitest";

import type { HistoryAnswer, Message, PostAnswer } from "../../src/protocol/chat-events.ts";
import { startServerProcess, type ServerProcess } from "./servers.ts";
import { ask, join } from "./stock-clients.ts";

const servers = new Set<ServerProcess>();
afterAll(() => Promise.all([...servers].map((server) => server.stop())));

async function serve(options: Parameters<typeof startServerProcess>[0]): Promise<ServerProcess> {
  const server = await startServerProcess(options);
  servers.add(server);
  return server;
}

/** The whole of a room, page by page. */
async function readAll(socket: Socket): Promise<Message[]> {
  const all: Message[] = [];
  for (;;) {
    const answer = await ask<HistoryAnswer>(socket, "history", { after: all.at(-1)?.seq ?? 0, limit: 200 });
    if ("error" in answer) throw new Error(answer.error.message);
    all.push(...answer.messages);
    if (!answer.hasMore) return all;
  }
}

describe.concurrent("durability", () => {
  it.each([
    { durability: "strict", what: "nothing that was acked or seen" },
    { durability: "relaxed", what: "nothing that was acked" },
  ])("kill -9 under load, $durability: loses $what, and doubles nothing", async ({ durability }) => {
    const settings = { MESSAGE_RATE: "100", MESSAGE_BURST: "100", DURABILITY: durability };
    const acked = new Map<string, { seq: number; content: string }>();
    const seen = new Map<string, Message>();
    let server = await serve({ settings });
    // The second kill meets data that the first one left.
    for (const round of [1, 2]) {
      const load = await startLoad(server.url, round, acked, seen);
      // At 50 posts a second this is mid-load whenever it happens.
      await vi.waitFor(() => expect(load.ackedNow()).toBeGreaterThan(50), { interval: 10 });
      server.group.killAll();
      await server.group.exit();
      load.stop();

      server = await serve({ settings, stateDir: server.stateDir });
      const reader = await join(server.url, "busy", "reader");
      const history = await readAll(reader);
      const seqs = history.map(({ seq }) => seq);
      // A seq that was shown and not stored stays unused: no other message may get it.
      const isAscending = seqs.every((seq, index) => seq > (seqs[index - 1] ?? 0));
      if (durability === "strict") expect(seqs).toEqual(history.map((_, index) => index + 1));
      else expect([isAscending, seqs.at(-1)! >= seqs.length]).toEqual([true, true]);
      const byId = new Map(history.map((message) => [message.id, message]));
      expect(byId.size, "every id once").toBe(history.length);
      expect(new Set(history.map(({ content }) => content)).size, "every text once").toBe(history.length);
      for (const [id, { seq, content }] of acked) expect(byId.get(id)).toMatchObject({ seq, content });
      for (const [id, message] of seen) {
        if (durability === "strict" || byId.has(id)) expect(byId.get(id)).toEqual(message);
      }
      expect(acked.size).toBeGreaterThan(50 * round);
      reader.disconnect();
    }
    await server.stop();
  });
});

/** Five users, ten posts a second each, or as many as a slow disk takes. */
async function startLoad(
  url: string,
  round: number,
  acked: Map<string, { seq: number; content: string }>,
  seen: Map<string, Message>,
): Promise<{ ackedNow(): number; stop(): void }> {
  const before = acked.size;
  const sockets = await Promise.all(
    Array.from({ length: 5 }, (_, i) => join(url, "busy", `user-${i}`, { reconnection: false })),
  );
  const timers = sockets.map((socket, user) => {
    socket.on("chat-message", (message: Message) => seen.set(message.id, message));
    let count = 0;
    let answered = 0;
    return setInterval(() => {
      if (answered < count) return;
      const content = `round ${round}, user ${user}, message ${++count}`;
      socket.emit("chat-message", { content, clientMsgId: content }, (answer: PostAnswer) => {
        answered++;
        if ("ok" in answer) acked.set(answer.id, { seq: answer.seq, content });
      });
    }, 100);
  });
  return {
    ackedNow: () => acked.size - before,
    stop: () => {
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.disconnect();
    },
  };
}
