// Recovery of stock clients: `socket.recovered`, the same id, exactly the missed events.
import type { Socket } from "socket.io-client";
import { afterAll, describe, expect, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { freePort, HOST, startServerProcess, type ServerProcess } from "./servers.ts";
import { Line } from "./line.ts";
import { ask, collect, join, type Options } from "./stock-clients.ts";

const servers = new Set<ServerProcess>();
afterAll(() => Promise.all([...servers].map((server) => server.stop())));

async function serve(options: Parameters<typeof startServerProcess>[0]): Promise<ServerProcess> {
  const server = await startServerProcess(options);
  servers.add(server);
  return server;
}

const QUICK: Options = { reconnectionDelay: 200, reconnectionDelayMax: 400 };
const MISSED = ["missed 1", "missed 2", "missed 3"];

interface Scene {
  readonly ada: Socket;
  readonly heard: Message[];
  readonly id: string;
}

async function enter(url: string, room: string, options: Options = {}): Promise<Scene> {
  const ada = await join(url, room, "ada", { ...QUICK, ...options });
  const heard = collect<Message>(ada, "chat-message");
  await ask(ada, "chat-message", { content: "heard" });
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  return { ada, heard, id: ada.id! };
}

/** Posts the messages that the client misses, from a connection that works. */
async function sayMissed(url: string, room: string): Promise<void> {
  const ben = await join(url, room, "ben");
  for (const content of MISSED) expect(await ask(ben, "chat-message", { content })).toMatchObject({ ok: true });
  ben.disconnect();
}

async function expectRecovered({ ada, heard, id }: Scene): Promise<void> {
  await vi.waitFor(() => expect(ada.connected).toBe(true), { interval: 20 });
  expect(ada.recovered).toBe(true);
  expect(ada.id).toBe(id);
  expect(await ask(ada, "chat-message", { content: "afterwards" })).toMatchObject({ ok: true });
  await vi.waitFor(() => expect(heard.at(-1)?.content).toBe("afterwards"));
  expect(heard.map(({ content }) => content)).toEqual(["heard", ...MISSED, "afterwards"]);
  expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, i) => i + 1));
}

describe.concurrent("a stock client recovers: REC-3, REC-4", () => {
  it.each(["websocket", "polling", "polling+websocket"])("its connection breaks (%s)", async (names) => {
    const room = `cut-${names.replace("+", "-")}`;
    const transports = names.split("+");
    const { url, port } = await shared();
    const line = await new Line(port).open();
    const scene = await enter(line.url, room, { transports });
    if (transports.length > 1) await vi.waitFor(() => expect(scene.ada.io.engine.transport.name).toBe("websocket"));
    line.cut();
    await vi.waitFor(() => expect(scene.ada.connected).toBe(false));
    await sayMissed(url, room);
    line.mend();
    await expectRecovered(scene);
  });

  it("its connection breaks and the server has not noticed", async () => {
    const { url, port } = await shared();
    const line = await new Line(port).open();
    const scene = await enter(line.url, "half-open");
    line.cutSilently();
    await vi.waitFor(() => expect(scene.ada.connected).toBe(false));
    await sayMissed(url, "half-open");
    line.mend();
    await expectRecovered(scene);
    expect(await ask(scene.ada, "presence", {})).toMatchObject({
      count: 1,
      members: [{ user: "ada", connections: 1 }],
    });
  });

  it("the server is killed and started again, over both transports, and under an open connection", async () => {
    const port = await freePort();
    const settings = { PORT: String(port) };
    const url = `http://${HOST}:${port}`;
    const server = await serve({ settings });
    const scenes: Array<readonly [room: string, scene: Scene, spare: Socket]> = [];
    for (const transport of ["websocket", "polling"]) {
      const room = `killed-${transport}`;
      const scene = await enter(url, room, { transports: [transport] });
      scenes.push([room, scene, await join(url, room, "spare", { reconnection: false })]);
    }
    const open = await enter(url, "killed", { reconnectionDelay: 4000, reconnectionDelayMax: 4000 });
    for (const [, { ada }, spare] of scenes) {
      // Said when ada's line is dead already, and before the server is.
      ada.io.reconnection(false);
      ada.io.engine.close();
      await vi.waitFor(() => expect(ada.connected).toBe(false));
      expect(await ask(spare, "chat-message", { content: MISSED[0] })).toMatchObject({ ok: true });
    }
    server.group.killAll();
    await server.group.exit();
    await serve({ settings, stateDir: server.stateDir });
    for (const [room, scene] of scenes) {
      const ben = await join(url, room, "ben");
      for (const content of MISSED.slice(1)) await ask(ben, "chat-message", { content });
      ben.disconnect();
      scene.ada.io.reconnection(true);
      scene.ada.connect();
      await expectRecovered(scene);
    }
    // This one reconnects by itself.
    await vi.waitFor(() => expect(open.ada.connected).toBe(true), { interval: 20 });
    expect(open.ada.recovered).toBe(true);
    expect(open.ada.id).toBe(open.id);
    expect(open.heard).toHaveLength(1);
  });

  it("it disconnected on purpose: a fresh connection without missed messages", async () => {
    const { url } = await shared();
    const { ada, heard, id } = await enter(url, "goodbye");
    ada.disconnect();
    await sayMissed(url, "goodbye");
    ada.connect();
    await vi.waitFor(() => expect(ada.connected).toBe(true));
    expect(ada.recovered).toBeFalsy();
    expect(ada.id).not.toBe(id);
    await ask(ada, "chat-message", { content: "afterwards" });
    await vi.waitFor(() => expect(heard).toHaveLength(2));
    expect(heard.map(({ content }) => content)).toEqual(["heard", "afterwards"]);
  });
});

let started: Promise<ServerProcess> | undefined;
/** The server of all stories in which no server dies. */
function shared(): Promise<ServerProcess> {
  return (started ??= serve({ settings: { PING_INTERVAL_MS: "2000", PING_TIMEOUT_MS: "20000" } }));
}
