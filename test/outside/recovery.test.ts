// Recovery of stock clients: `socket.recovered`, the same id, exactly the missed events. killed.test.ts has the server killed meanwhile.
import { describe, expect, it, vi } from "vitest";

import { Line } from "./line.ts";
import { enter, expectRecovered, MISSED } from "./recovering.ts";
import { useServer } from "./stage.ts";
import { ask, join } from "./stock-clients.ts";

const { url, port } = await useServer({ PING_INTERVAL_MS: "2000", PING_TIMEOUT_MS: "20000" });

/** Posts the messages that the client misses, from a connection that works. */
async function sayMissed(room: string): Promise<void> {
  const ben = await join(url, room, "ben");
  for (const content of MISSED) expect(await ask(ben, "chat-message", { content })).toMatchObject({ ok: true });
  ben.disconnect();
}

describe.concurrent("a stock client recovers: REC-3, REC-4", () => {
  it.each(["websocket", "polling", "polling+websocket"])("its connection breaks (%s)", async (names) => {
    const room = `cut-${names.replace("+", "-")}`;
    const transports = names.split("+");
    const line = await new Line(port).open();
    const scene = await enter(line.url, room, { transports });
    if (transports.length > 1) await vi.waitFor(() => expect(scene.ada.io.engine.transport.name).toBe("websocket"));
    line.cut();
    await vi.waitFor(() => expect(scene.ada.connected).toBe(false));
    await sayMissed(room);
    line.mend();
    await expectRecovered(scene);
  });

  it("its connection breaks and the server has not noticed", async () => {
    const line = await new Line(port).open();
    const scene = await enter(line.url, "half-open");
    line.cutSilently();
    await vi.waitFor(() => expect(scene.ada.connected).toBe(false));
    await sayMissed("half-open");
    line.mend();
    await expectRecovered(scene);
    expect(await ask(scene.ada, "presence", {})).toMatchObject({
      count: 1,
      members: [{ user: "ada", connections: 1 }],
    });
  });

  it("it disconnected on purpose: a fresh connection without missed messages", async () => {
    const { ada, heard, id } = await enter(url, "goodbye");
    ada.disconnect();
    await sayMissed("goodbye");
    ada.connect();
    await vi.waitFor(() => expect(ada.connected).toBe(true));
    expect(ada.recovered).toBeFalsy();
    expect(ada.id).not.toBe(id);
    await ask(ada, "chat-message", { content: "afterwards" });
    await vi.waitFor(() => expect(heard).toHaveLength(2));
    expect(heard.map(({ content }) => content)).toEqual(["heard", "afterwards"]);
  });
});
