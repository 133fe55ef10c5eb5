// Files as people send them, with the built client in Node. killed.test.ts has the server killed meanwhile.
import { afterEach, beforeAll, expect, inject, it, vi } from "vitest";

import type { Room, UploadProgress } from "../../client/core/api.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { builtClient } from "./built-client.ts";
import { join, next, tokenFor } from "./stock-clients.ts";

let client: Awaited<ReturnType<typeof builtClient>>;
beforeAll(async () => void (client = await builtClient()));

const rooms: Room[] = [];
afterEach(() => {
  for (const room of rooms.splice(0)) room.close();
});

function enter(origin: string, name: string, user = "ada"): Room {
  const room = client.connectRoom(origin, name, { token: () => tokenFor(user) });
  rooms.push(room);
  return room;
}

const GIF = new Blob(["GIF89a\u0005\u0000\u0007\u0000", new Uint8Array(300_000).fill(7)], { type: "image/gif" });

it("a client uploads a file and sends it without a text; another one downloads it: FILE-1, FILE-2", async () => {
  const origin = inject("serverUrl");
  const [ada, ben] = [enter(origin, "pictures"), await join(origin, "pictures", "ben")];
  const heard = next<Message>(ben, "chat-message");
  const progress: UploadProgress[] = [];
  const attachment = await ada.upload(GIF, { name: "Grüße.gif", onProgress: (told) => progress.push(told) });
  expect(attachment).toMatchObject({ name: "Grüße.gif", type: "image/gif", size: GIF.size, width: 5, height: 7 });
  expect(progress.at(-1)).toEqual({ loaded: GIF.size, total: GIF.size });
  expect(await ada.send("", { attachment })).toMatchObject({ ok: true });
  expect(await heard).toMatchObject({ content: "", attachment });
  const downloaded = await enter(origin, "pictures", "cyd").download(attachment);
  expect([downloaded.type, await downloaded.bytes()]).toEqual(["image/gif", await GIF.bytes()]);
});

it("the client reports the reason why the server refused a file", async () => {
  const room = enter(inject("serverUrl"), "pictures-2");
  const script = new Blob(["<script>"], { type: "text/html" });
  await expect(room.upload(script)).rejects.toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
  const large = new Blob([new Uint8Array(11 * 1024 * 1024)], { type: "text/plain" });
  // The server refuses without reading it all, and may end the connection before the answer is read.
  await vi.waitFor(() => expect(room.upload(large)).rejects.toMatchObject({ code: "TOO_LONG" }));
  await expect(room.download({ key: "pictures-2!x" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(room.upload(GIF, { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
});
