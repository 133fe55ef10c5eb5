// Tests uploads and downloads of the client: requests, retries and errors.
import { expect, it, vi } from "vitest";

import type { FileError } from "../../../client/core/api.ts";
import { Files, FILE_TRIES_MAX } from "../../../client/core/files.ts";
import { OutboxStorage } from "../../../client/core/outbox-storage.ts";
import type { Transfer, Transferred } from "../../../client/core/transfer.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

const ATTACHMENT = { key: "lobby!e1!x!y", name: "me.png", type: "image/png", size: 3 };
const PICTURE = new File(["abc"], "me.png", { type: "image/png" });
const answer = (status: number, body: object | string): Transferred => ({
  status,
  body: new Blob([typeof body === "string" ? body : JSON.stringify(body)]),
});
const refusal = (status: number, code: string, more: object = {}): Transferred =>
  answer(status, { error: { code, message: `${code}!`, ...more } });
const GOOD = answer(201, { ok: true, attachment: ATTACHMENT });

function world(answers: ReadonlyArray<Transferred | Error>, hasTokenFunction = true) {
  const clock = new VirtualClock();
  const asked: Transfer[] = [];
  const tokens: unknown[] = [];
  const files = new Files({
    base: "https://chat.test",
    room: "lobby",
    clock,
    random: () => 0,
    hasTokenFunction,
    token: async (refused) => {
      tokens.push(refused);
      return `token-${tokens.length}`;
    },
    transfer: async (request) => {
      asked.push(request);
      const next = answers[asked.length - 1] ?? answers.at(-1)!;
      if (next instanceof Error) throw next;
      return next;
    },
  });
  /** Lets every wait pass. */
  const settle = async <Value>(promise: Promise<Value>): Promise<Value> => {
    // The caller that gets it handles it in the end.
    promise.catch(() => undefined);
    for (let i = 0; i < 2 * FILE_TRIES_MAX; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(60_000);
    }
    return promise;
  };
  return { files, asked, tokens, clock, settle };
}

it("uploads a file under its name, and returns the attachment", async () => {
  const { files, asked } = world([GOOD]);
  expect(await files.upload(PICTURE)).toEqual(ATTACHMENT);
  expect(asked).toMatchObject([
    { method: "POST", url: "https://chat.test/api/rooms/lobby/files?name=me.png", token: "token-1", body: PICTURE },
  ]);
  await files.upload(new Blob(["x"]), { name: "Grüße/😀?.txt" });
  expect(new URL(asked[1]!.url).searchParams.get("name")).toBe("Grüße/😀?.txt");
});

it("uploads a preview before its file, as a file of the same name; where it is refused, the file goes without it", async () => {
  const preview = new Blob(["small"], { type: "image/webp" });
  const small = { ...ATTACHMENT, key: "lobby!e1!p!y" };
  const { files, asked } = world([answer(201, { ok: true, attachment: small }), GOOD]);
  expect(await files.upload(PICTURE, { preview })).toEqual({ ...ATTACHMENT, preview: small });
  expect(asked.map(({ url, body }) => [url.split("?")[1], body])).toEqual([
    ["name=me.png", preview],
    ["name=me.png", PICTURE],
  ]);
  const refused = world([refusal(415, "UNSUPPORTED_MEDIA_TYPE"), GOOD]);
  expect(await refused.files.upload(PICTURE, { preview })).toEqual(ATTACHMENT);
});

it("gives an address of a file with a pass", async () => {
  const { files, asked } = world([answer(200, { ok: true, pass: "t.member.0061.f", until: 1 })]);
  expect(await files.link(ATTACHMENT.key)).toBe("https://chat.test/files/lobby!e1!x!y?pass=t.member.0061.f");
  expect(asked).toMatchObject([{ method: "GET", url: "https://chat.test/files/lobby!e1!x!y/link", token: "token-1" }]);
});

it("downloads a file by its key", async () => {
  const { files, asked } = world([answer(200, "bytes")]);
  expect(await (await files.download(ATTACHMENT.key)).text()).toBe("bytes");
  expect(asked).toMatchObject([{ method: "GET", url: "https://chat.test/files/lobby!e1!x!y" }]);
});

it("fetches link cards and their pictures by address, and knows an address without a card", async () => {
  const card = { url: "https://news.example.org/", title: "Tea" };
  const { files, asked } = world([answer(200, { ok: true, card }), answer(200, { ok: true }), answer(200, "bytes")]);
  expect(await files.linkCard("https://news.example.org/?a=b&c")).toEqual(card);
  expect(await files.linkCard("https://none.example.org/")).toBe(undefined);
  expect(await (await files.linkPicture("https://news.example.org/a.png")).text()).toBe("bytes");
  expect(asked.map(({ url }) => url)).toEqual([
    "https://chat.test/api/link-card?url=https%3A%2F%2Fnews.example.org%2F%3Fa%3Db%26c",
    "https://chat.test/api/link-card?url=https%3A%2F%2Fnone.example.org%2F",
    "https://chat.test/api/link-card/picture?url=https%3A%2F%2Fnews.example.org%2Fa.png",
  ]);
});

it("retries temporary failures: a rate limit after its time, a broken connection, an unreachable storage", async () => {
  const troubles = [
    refusal(429, "RATE_LIMITED", { retryAfterMs: 5000 }),
    new TypeError("offline"),
    refusal(503, "UNAVAILABLE"),
  ];
  const { files, asked, settle } = world([...troubles, answer(502, "<html>"), GOOD]);
  expect(await settle(files.upload(PICTURE))).toEqual(ATTACHMENT);
  expect(asked).toHaveLength(FILE_TRIES_MAX);
});

it("waits for the limit's time, and no shorter", async () => {
  const { files, asked, clock } = world([refusal(429, "RATE_LIMITED", { retryAfterMs: 5000 }), GOOD]);
  const uploading = files.upload(PICTURE);
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(4999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(1);
  clock.advance(1);
  expect(await uploading).toEqual(ATTACHMENT);
});

it("gives up in the end, with the last words", async () => {
  const { files, asked, settle } = world([new TypeError("offline")]);
  await expect(settle(files.upload(PICTURE))).rejects.toMatchObject({ code: "NO_ANSWER" } satisfies Partial<FileError>);
  expect(asked).toHaveLength(FILE_TRIES_MAX);
});

it.each([
  [413, "TOO_LONG"],
  [403, "MUTED"],
  [503, "MISCONFIGURED"],
])("tells what does not pass at once: %i %s", async (status, code) => {
  const { files, asked } = world([refusal(status, code)]);
  await expect(files.upload(PICTURE)).rejects.toMatchObject({ code, message: `${code}!` });
  expect(asked).toHaveLength(1);
});

it("asks once for another token where the last one ended", async () => {
  const { files, tokens, asked } = world([refusal(401, "TOKEN_EXPIRED"), GOOD]);
  expect(await files.upload(PICTURE)).toEqual(ATTACHMENT);
  expect([tokens, asked.map(({ token }) => token)]).toEqual([
    [undefined, "TOKEN_EXPIRED"],
    ["token-1", "token-2"],
  ]);
  for (const hasTokenFunction of [true, false]) {
    const other = world([refusal(401, "UNAUTHORIZED")], hasTokenFunction);
    await expect(other.files.upload(PICTURE)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(other.asked).toHaveLength(hasTokenFunction ? 2 : 1);
  }
});

it("ends when it is called off, before, between two tries, or by the room's end", async () => {
  const reason = new Error("enough");
  const { files, asked, clock } = world([new TypeError("offline")]);
  await expect(files.upload(PICTURE, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(asked).toHaveLength(0);
  const controller = new AbortController();
  const uploading = files.upload(PICTURE, { signal: controller.signal });
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort(reason);
  await expect(uploading).rejects.toBe(reason);
  clock.advance(60_000);
  const downloading = files.download("key");
  files.close();
  await expect(downloading).rejects.toMatchObject({ code: "CLOSED" });
  await expect(files.upload(PICTURE)).rejects.toMatchObject({ code: "CLOSED" });
  expect(asked).toHaveLength(1);
});

it("messages that wait keep their files across a reload; what another script left in place of files is none", () => {
  const storage = new FakeLocalStorage();
  const outbox = (): OutboxStorage => new OutboxStorage(storage, "https://chat.test", "lobby");
  const one = { clientMsgId: "c1", content: "", attachment: ATTACHMENT, order: 1 };
  const attachments = [ATTACHMENT, { ...ATTACHMENT, key: "lobby!e1!z!y", preview: ATTACHMENT }];
  const several = { ...one, clientMsgId: "c2", attachments, order: 2 };
  const broken = { ...one, clientMsgId: "c3", attachments: { length: 1 } as never, order: 3 };
  const mixed = { ...one, clientMsgId: "c4", attachments: ["x", null, ATTACHMENT] as never, order: 4 };
  for (const message of [one, several, broken, mixed]) outbox().put(message);
  const rest = [3, 4].map((order) => ({ ...one, clientMsgId: `c${order}`, order }));
  expect(outbox().load()).toEqual([one, several, ...rest]);
});

it("a file that cannot be read fails by itself: nothing is asked of the server", async () => {
  const { files, asked } = world([GOOD]);
  const gone = new File(["abc"], "gone.txt");
  // As a browser answers once the file is deleted or changed, and for a folder.
  gone.slice = () => Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(new Error("NotReadableError")) });
  await expect(files.upload(gone)).rejects.toMatchObject({ code: "UNREADABLE" } satisfies Partial<FileError>);
  expect(asked).toEqual([]);
});

it("a file that is deleted during its upload is not taken for a network that fails", async () => {
  const { files, asked, settle } = world([new TypeError("the network failed")]);
  const gone = new File(["abc"], "gone.txt");
  let reads = 0;
  gone.slice = (...range) => {
    if (++reads === 1) return PICTURE.slice(...range);
    return Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(new Error("NotFoundError")) });
  };
  await expect(settle(files.upload(gone))).rejects.toMatchObject({ code: "UNREADABLE" });
  expect(asked).toHaveLength(1);
});

it("waits for no answer that asks for hours, and says what the server said: FILE-8", async () => {
  const said = { retryAfterMs: 80_000_000 };
  const { files, asked, settle } = world([refusal(429, "RATE_LIMITED", said), GOOD]);
  await expect(settle(files.upload(PICTURE))).rejects.toMatchObject({ code: "RATE_LIMITED", ...said });
  expect(asked).toHaveLength(1);
});
