// MSG-3: no file of the server contains the text of a deleted message, or of a deleted room.
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { startServer, type TestServer } from "./servers.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" } });
});
afterAll(() => server?.stop());

type Client = Awaited<ReturnType<typeof join>>;

/** More than a search reads without an index (SRCH-7). */
const MESSAGES = 4200;

/** Words that occur nowhere else; one for each kind of text. */
const SAID = {
  alone: "quizzaciouslyalone",
  edited: ["quizzaciouslyposted", "quizzaciouslyeditedonce, and longer", "quizzaciouslyeditedtwice, and longer still"],
  inBurst: "quizzaciouslyinburst",
  first: "quizzaciouslyfirst",
  indexed: "quizzaciouslyindexed",
  indexedAndEdited: ["quizzaciouslybefore", "quizzaciouslyafterwards"],
  long: `quizzaciouslylong ${"long ".repeat(150)}`,
} as const;
const KEPT = "quizzaciouslykept";

/** Which of the words stand in any file of the server. */
function foundIn(directory: string): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), "latin1"));
  const words = contents.flatMap((content) => content.match(/quizzaciously[a-z]+/g) ?? []);
  return [...new Set(words)].toSorted();
}

const walsIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(
    (name) => /ChatRoom.[0-9a-f]+.sqlite-wal$/.test(name) && statSync(path.join(directory, name)).size > 0,
  );

it("MSG-3: no file contains a deleted text once the room's object is gone from memory", async () => {
  const { url, stateDir } = server;
  const post = async (client: Client, content: string): Promise<string> => {
    const answer = await ask<{ id: string }>(client, "chat-message", { content });
    expect(answer).toMatchObject({ ok: true });
    return answer.id;
  };
  /** As quickly as the room's rate limit lets users edit. */
  const change = async (client: Client, event: string, given: object): Promise<void> => {
    for (;;) {
      const answer = await ask<{ error?: { retryAfterMs?: number } }>(client, event, given);
      if (!answer.error) return;
      expect(answer.error).toHaveProperty("retryAfterMs");
      await new Promise((resolve) => setTimeout(resolve, answer.error!.retryAfterMs));
    }
  };
  const edit = async (client: Client, id: string, contents: readonly string[]): Promise<void> => {
    for (const content of contents) await change(client, "edit-message", { id, content });
  };
  const remove = async (client: Client, ids: readonly string[]): Promise<void> => {
    for (const id of ids) await change(client, "delete-message", { id });
  };

  const small = await join(url, "small", "ada");
  const gone = [await post(small, SAID.alone)];
  await post(small, KEPT);
  gone.push(await post(small, SAID.long));
  const [posted, ...edits] = SAID.edited;
  const edited = await post(small, posted);
  await edit(small, edited, edits);
  const burst = ["one", SAID.inBurst, "three"].map((content) => post(small, content));
  gone.push(edited, (await Promise.all(burst))[1]!);
  await remove(small, gone);

  const many = await join(url, "many", "ada");
  const manyIds: string[] = [];
  for (let n = 0; n < 60; n++) {
    const id = await post(many, `quizzaciouslymany ${n} ${"and so on ".repeat(10)}`);
    await edit(many, id, [`quizzaciouslymanyedited ${n} ${"and so on ".repeat(12)}`]);
    manyIds.push(id);
  }
  await remove(many, manyIds);

  const large = await join(url, "large", "ada");
  const first = await post(large, SAID.first);
  const indexed = await post(large, SAID.indexed);
  const [before, ...after] = SAID.indexedAndEdited;
  const indexedAndEdited = await post(large, before);
  for (let sent = 0; sent < MESSAGES; sent += 300)
    await Promise.all(Array.from({ length: 300 }, (_, i) => post(large, `message number ${sent + i}`)));
  const search = (query: string): Promise<{ messages: object[] }> => ask(large, "search", { query });
  expect((await search(SAID.indexed)).messages).toHaveLength(1);
  await edit(large, indexedAndEdited, after);
  expect((await search(SAID.indexedAndEdited[1])).messages).toHaveLength(1);
  await remove(large, [first, indexed, indexedAndEdited]);
  expect((await search("quizzaciously*")).messages).toEqual([]);

  // A room with a file keeps the task to delete it.
  const erased = await join(url, "erased", "ada");
  for (let n = 0; n < 40; n++) await post(erased, `quizzaciouslyerased ${n} ${"and so on ".repeat(20)}`);
  const Authorization = `Bearer ${await tokenFor("backend", { role: "service" })}`;
  const upload = { method: "POST", headers: { Authorization, "Content-Type": "text/plain" }, body: "hello" };
  expect((await fetch(`${url}/api/rooms/erased/files?name=a.txt`, upload)).status).toBe(201);
  const deletion = await fetch(`${url}/api/rooms/erased`, { method: "DELETE", headers: { Authorization } });
  expect(deletion.ok).toBe(true);

  for (const client of [small, many, large, erased]) client.disconnect();
  // An empty room is put away after a while, and with it goes the log that SQLite writes ahead.
  await vi.waitFor(() => expect(walsIn(stateDir)).toEqual([]), { interval: 500 });
  expect(foundIn(stateDir)).toEqual([KEPT]);
});
