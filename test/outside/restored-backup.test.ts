// Restores an older copy of the state directory: clients that were connected before must not take later messages for those
// that they know.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Socket } from "socket.io-client";
import { afterAll, describe, expect, it, vi } from "vitest";

import type { Message, Welcome } from "../../src/protocol/chat-events.ts";
import { freePort, HOST, startServer, type TestServer } from "./servers.ts";
import { ask, collect, join, open, tokenFor } from "./stock-clients.ts";

const directories: string[] = [];
let running: TestServer | undefined;
afterAll(async () => {
  await running?.stop();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A server that is stopped, and started on another state than it left. */
class Backups {
  readonly stateDir = this.#directory("state");
  readonly #backup = this.#directory("backup");
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  get url(): string {
    return `http://${HOST}:${this.#port}`;
  }

  #directory(name: string): string {
    const directory = mkdtempSync(path.join(tmpdir(), `parley-${name}-`));
    directories.push(directory);
    return directory;
  }

  async start(): Promise<void> {
    running = await startServer({ settings: { PORT: String(this.#port) }, stateDir: this.stateDir });
  }

  async end(): Promise<void> {
    await running!.end();
    running = undefined;
  }

  async take(): Promise<void> {
    await this.end();
    cpSync(this.stateDir, this.#backup, { recursive: true });
    await this.start();
  }

  async restore(): Promise<void> {
    await this.end();
    rmSync(this.stateDir, { recursive: true });
    cpSync(this.#backup, this.stateDir, { recursive: true });
    await this.start();
  }
}

async function say(url: string, room: string, contents: readonly string[]): Promise<string[]> {
  const ben = await join(url, room, "ben");
  const ids: string[] = [];
  for (const content of contents) {
    const answer = await ask<{ ok: true; id: string }>(ben, "chat-message", { content });
    expect(answer).toMatchObject({ ok: true });
    ids.push(answer.id);
  }
  ben.disconnect();
  return ids;
}

async function enter(url: string, room: string): Promise<{ ada: Socket; heard: Message[]; welcomes: Welcome[] }> {
  const auth = { token: await tokenFor("ada") };
  const ada = open(url, { path: `/rooms/${room}/socket.io`, auth, reconnectionDelay: 200, reconnectionDelayMax: 400 });
  const heard = collect<Message>(ada, "chat-message");
  const welcomes = collect<Welcome>(ada, "welcome");
  await vi.waitFor(() => expect(welcomes).toHaveLength(1));
  return { ada, heard, welcomes };
}

function hangUp(ada: Socket): void {
  ada.io.reconnection(false);
  ada.io.engine.close();
}

async function comeBack({ ada, welcomes }: { ada: Socket; welcomes: Welcome[] }): Promise<void> {
  const known = welcomes.length;
  ada.io.reconnection(true);
  ada.connect();
  await vi.waitFor(() => expect(welcomes.length).toBeGreaterThan(known));
}

describe("a room restored from a backup", () => {
  it("recovers no client that received messages which the backup lacks, and gives no id twice: REC-3, CHAT-9", async () => {
    const server = new Backups(await freePort());
    await server.start();
    await say(server.url, "old", ["one", "two"]);
    await server.take();

    const scene = await enter(server.url, "old");
    const early = await enter(server.url, "old");
    hangUp(early.ada);
    const lost = await say(server.url, "old", ["lost 1", "lost 2", "lost 3"]);
    await vi.waitFor(() => expect(scene.heard).toHaveLength(3));
    hangUp(scene.ada);

    await server.restore();
    const others = await say(server.url, "old", ["other 1", "other 2", "other 3", "other 4"]);
    expect(others.filter((id) => lost.includes(id))).toEqual([]);

    await comeBack(scene);
    expect(scene.ada.recovered).toBe(false);
    expect(scene.welcomes.at(-1)).toMatchObject({ lastSeq: 6, lastId: others.at(-1) });
    const { messages } = await ask<{ messages: Message[] }>(scene.ada, "history", { after: 2 });
    expect(messages.map(({ content }) => content)).toEqual(["other 1", "other 2", "other 3", "other 4"]);
    // A reply to a lost message must not become a reply to another one.
    expect(await ask(scene.ada, "react", { id: lost[0], emoji: "+", on: true })).toMatchObject({
      error: { code: "NOT_FOUND" },
    });
    expect(await ask(scene.ada, "chat-message", { content: "yes", replyTo: lost[0] })).toMatchObject({
      error: { code: "NOT_FOUND" },
    });

    // A client that received none of the lost messages missed only those posted since.
    await comeBack(early);
    expect(early.ada.recovered).toBe(true);
    expect(early.heard.map(({ content }) => content)).toEqual(["other 1", "other 2", "other 3", "other 4"]);
  });
});
