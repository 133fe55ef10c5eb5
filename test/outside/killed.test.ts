// A server that is killed under its clients, and started again: they go on, and all that it has acked is there. One kill for all stories, because a
// server is slow to start.
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import type { Room } from "../../client/core/api.ts";
import type { HistoryAnswer, PostAnswer } from "../../src/protocol/chat-events.ts";
import { builtClient } from "./built-client.ts";
import { enter, expectRecovered, MISSED, type Scene } from "./recovering.ts";
import { startServerProcess, type ServerProcess } from "./servers.ts";
import { ask, contents, fill, join, next, tokenFor } from "./stock-clients.ts";

const WAIT = { interval: 20 };
const SETTINGS = { MAX_MEMBERS: "2", MAX_SHARDS: "4", MESSAGE_RATE: "1000", MESSAGE_BURST: "1000" };

/** All that happens before the kill. @returns what happens after it */
type Story = (url: string) => Promise<() => Promise<void>>;

const STORIES = {
  "stock clients recover, over both transports, and under an open connection: REC-3, REC-4": async (url) => {
    const scenes: Array<readonly [room: string, scene: Scene, spare: Socket]> = [];
    for (const transport of ["websocket", "polling"]) {
      const room = `left-${transport}`;
      const scene = await enter(url, room, { transports: [transport] });
      scenes.push([room, scene, await join(url, room, "spare", { reconnection: false })]);
    }
    const open = await enter(url, "open", { reconnectionDelay: 4000, reconnectionDelayMax: 4000 });
    for (const [, { ada }, spare] of scenes) {
      // Said when ada's line is dead already, and before the server is.
      ada.io.reconnection(false);
      ada.io.engine.close();
      await vi.waitFor(() => expect(ada.connected).toBe(false));
      expect(await ask(spare, "chat-message", { content: MISSED[0] })).toMatchObject({ ok: true });
    }
    return async () => {
      for (const [room, scene] of scenes) {
        const ben = await join(url, room, "ben");
        for (const content of MISSED.slice(1)) await ask(ben, "chat-message", { content });
        ben.disconnect();
        scene.ada.io.reconnection(true);
        scene.ada.connect();
        await expectRecovered(scene);
      }
      // This one reconnects by itself.
      await vi.waitFor(() => expect(open.ada.connected).toBe(true), WAIT);
      expect(open.ada.recovered).toBe(true);
      expect(open.ada.id).toBe(open.id);
      expect(open.heard).toHaveLength(1);
    };
  },

  "a room with shards has lost no acked message, and its members hear the next ones": async (url) => {
    const members = await fill(url, "hall", 6);
    const acked: string[] = [];
    const say = async (n: number): Promise<void> => {
      const { socket } = members[n % members.length]!;
      const answer = await ask<PostAnswer>(socket, "chat-message", { content: `${n}`, clientMsgId: `m${n}` });
      if ("ok" in answer) acked.push(`${n}`);
    };
    for (let n = 0; n < 30; n++) await say(n);
    return async () => {
      await Promise.all(members.filter(({ socket }) => !socket.connected).map(({ socket }) => next(socket, "connect")));
      for (let n = 30; n < 40; n++) await say(n);
      await vi.waitFor(() => {
        for (const { heard } of members) expect(contents(heard).slice(-10)).toEqual(acked.slice(-10));
      }, WAIT);
      const history = await ask<HistoryAnswer>(members[5]!.socket, "history", { limit: 50 });
      expect("messages" in history && contents(history.messages)).toEqual(acked);
    };
  },

  "a file is there, and can be sent": async (url) => {
    const { connectRoom } = await builtClient();
    const enterPictures = (): Room => connectRoom(url, "pictures", { token: () => tokenFor("ada") });
    const before = enterPictures();
    const file = new Blob(["hello ".repeat(50_000)], { type: "text/plain" });
    const attachment = await before.upload(file, { name: "kept.txt" });
    return async () => {
      const after = enterPictures();
      expect(await after.send("still there", { attachment })).toMatchObject({ ok: true, seq: 1 });
      expect((await after.download(attachment)).size).toBe(file.size);
      for (const room of [before, after]) room.close();
    };
  },
} satisfies Record<string, Story>;

let server: ServerProcess;
const afterwards = new Map<string, () => Promise<void>>();
beforeAll(async () => {
  const { group, url, port, stateDir } = (server = await startServerProcess({ settings: SETTINGS }));
  await Promise.all(Object.entries(STORIES).map(async ([title, story]) => afterwards.set(title, await story(url))));
  group.killAll();
  await group.exit();
  server = await startServerProcess({ settings: { ...SETTINGS, PORT: String(port) }, stateDir });
});
afterAll(() => server?.stop());

describe.concurrent("after kill -9 of the server", () => {
  it.each(Object.keys(STORIES))("%s", (title) => afterwards.get(title)!());
});
