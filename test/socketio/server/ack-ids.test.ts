// The server's ack ids: small enough for every client, and never the same for two events to which one client could still send an ack.
import { PacketType } from "socket.io-parser";
import { describe, expect, it } from "vitest";

import type { Client, FakeShell } from "../../host/harness.ts";
import { probeShell } from "../../host/probe.ts";

/** Java's, Swift's and Rust's clients read an ack id as a signed number of 32 bits. */
const ACK_ID_MAX = 2 ** 31 - 1;

const idsOf = (client: Client): number[] =>
  client.packets.flatMap(({ type, id }) => (type === PacketType.EVENT && id !== undefined ? [id] : []));

const ack = (client: Client, id: number, ...args: unknown[]): void =>
  client.sendPacket({ type: PacketType.ACK, nsp: "/", id, data: args });

/** A room that asks, one way or the other, and notes the answers. */
function askingRoom(): { shell: FakeShell; heard: unknown[] } {
  const heard: unknown[] = [];
  const { shell } = probeShell({
    handlers: {
      ask: (socket, data) => void socket.ask("q", [], { handler: "goOn", data, timeoutMs: 60_000 }),
      await: async (socket) => {
        const answer = await socket
          .timeout(1000)
          .emitWithAck("q")
          .catch(() => undefined);
        if (answer !== undefined) heard.push(answer);
      },
    },
    continuations: { goOn: (_socket, answer, data) => heard.push([answer.kind, data]) },
  });
  return { shell, heard };
}

describe("an ack id", () => {
  it.each([0, 24 * 24 * 3_600_000, ACK_ID_MAX - 2, 7 * ACK_ID_MAX + 5])(
    "fits into 31 bits, whenever the session began (%i ms later)",
    async (ms) => {
      const { shell } = askingRoom();
      shell.nowMs += ms;
      const client = await shell.connect();
      for (let i = 0; i < 5; i++) client.emit(i % 2 ? "ask" : "await");
      const ids = idsOf(client);
      expect(new Set(ids).size).toBe(5);
      for (const id of ids) expect(id).toSatisfy((n: number) => Number.isInteger(n) && n >= 0 && n <= ACK_ID_MAX);
    },
  );

  it("is not used again after sleep: a late ack does not answer a later event", async () => {
    const { shell, heard } = askingRoom();
    const client = await shell.connect();
    client.emit("await");
    shell.advance(1001);
    await shell.settle();
    shell.evict();
    client.emit("ask", "later");
    const [first, second] = idsOf(client);
    ack(client, first!, "too late");
    expect(heard).toEqual([]);
    ack(client, second!);
    expect(heard).toEqual([["ack", "later"]]);
  });

  it("is not used again over the client's next connection", async () => {
    const { shell, heard } = askingRoom();
    const before = await shell.connect();
    before.emit("ask", "before");
    before.leave();
    heard.length = 0;
    shell.advance(50);
    const after = await shell.connect();
    after.emit("ask", "after");
    ack(after, idsOf(before)[0]!, "too late");
    expect(heard).toEqual([]);
  });

  it("of one client means nothing from another one", async () => {
    const { shell, heard } = askingRoom();
    const [ada, ben] = [await shell.connect(), await shell.connect()];
    ada.emit("await");
    ada.emit("ask", "ada's");
    for (const id of idsOf(ada)) ack(ben, id, "not mine");
    shell.advance(1001);
    await shell.settle();
    expect(heard).toEqual([]);
  });
});
