// Uploads: permissions, types and sizes that are taken, answers. FILE-1
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { callApi, refusal } from "../durable/api-caller.ts";
import { png, read, requestUpload, text, upload, uploaded } from "../durable/files.ts";
import { RawClient } from "../durable/raw-client.ts";
import { freshRoom, join, tokenFor, useSettings, withSettings, workerWith } from "../durable/rooms.ts";

useSettings({ FILE_BYTES_MAX: "1000000" });

const moderate = async (room: string, event: string, payload: object): Promise<void> => {
  const mona = await RawClient.open({ room });
  await mona.connect({ token: await tokenFor("mona", { role: "moderator" }) });
  expect(await mona.ask(event, payload)).toMatchObject({ ok: true });
};

describe("an upload: FILE-1", () => {
  it("is answered with an attachment, and is read back unchanged", async () => {
    const room = freshRoom();
    const image = png(640, 480, 300_000);
    const { status, body } = await upload(room, image, { name: "Grüße 😀.png" });
    expect(status).toBe(201);
    const { key, ...facts } = body.attachment;
    expect(body).toEqual({ ok: true, attachment: { key, ...facts } });
    expect(facts).toEqual({ name: "Grüße 😀.png", type: "image/png", size: 300_000, width: 640, height: 480 });
    expect(key.startsWith(`${room}!`)).toBe(true);
    // It stands in an address as it is.
    expect(encodeURIComponent(key)).toBe(key);
    const response = await read(key);
    expect(response.status).toBe(200);
    const bytes = await response.bytes();
    expect(bytes.length === image.length && bytes.every((byte, at) => byte === image[at])).toBe(true);
  });

  it("is a message once it is posted: for the others, in history, export and over HTTP, also without text", async () => {
    const room = freshRoom();
    const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
    const attachment = await uploaded(room, png(3, 4));
    expect(await ada.ask("chat-message", { content: "  ", attachment })).toMatchObject({ ok: true, seq: 1 });
    expect(await ben.receives<Message>("chat-message")).toMatchObject([{ seq: 1, content: "", attachment }]);
    expect(await ben.ask("history", {})).toMatchObject({ messages: [{ attachment }] });
    const posted = await callApi("POST", `/api/rooms/${room}/messages`, {
      as: { user: "ada", role: "moderator" },
      body: { content: "again", attachment },
    });
    expect(posted.status).toBe(201);
    const page = await callApi("GET", `/api/rooms/${room}/messages`);
    expect(page.body.messages).toMatchObject([{ attachment }, { content: "again", attachment }]);
  });

  it("is called as it was named, and no name is another field of a header", async () => {
    const name = '"; filename="evil.html';
    const attachment = await uploaded(freshRoom(), png(1, 1), { name: `a/${name}` });
    expect(attachment.name).toBe(name);
    const disposition = (await read(attachment.key)).headers.get("Content-Disposition")!;
    expect(disposition).toMatch(/^inline; filename="[^"\\]*"(; filename\*=UTF-8''[\w.%~!#$&+^`|-]*)?$/);
  });

  it("keeps the claimed type of a file that is no image", async () => {
    const attachment = await uploaded(freshRoom(), text("a,b"), { type: "text/csv; charset=utf-8", name: "t.csv" });
    expect(attachment).toMatchObject({ name: "t.csv", type: "text/csv", size: 3 });
    expect(attachment).not.toHaveProperty("width");
  });

  it("takes an image by its bytes, and not by its claimed type", async () => {
    const gif = text("GIF89a\u0005\u0000\u0007\u0000 and so on");
    expect(await uploaded(freshRoom(), gif, { type: "image/png" })).toMatchObject({
      type: "image/gif",
      width: 5,
      height: 7,
    });
  });

  it("takes an image without a readable size", async () => {
    const cut = png(1, 1).slice(0, 12);
    expect(await uploaded(freshRoom(), cut)).toEqual({
      key: expect.any(String),
      name: "file",
      type: "image/png",
      size: 12,
    });
  });
});

it("the limits of the settings are announced in welcome: FILE-1", async () => {
  const [welcome] = await (await join(freshRoom(), "ada")).receives("welcome");
  const types: unknown = expect.arrayContaining(["image/png", "audio/*"]);
  expect(welcome).toMatchObject({ files: { bytesMax: 1_000_000, types } });
});

describe("refused files: FILE-1", () => {
  it.each([
    ["a script in a picture's name", "image/png", text("<svg onload=alert(1)>")],
    ["SVG, which has scripts", "image/svg+xml", text("<svg/>")],
    ["HTML", "text/html", text("<script>")],
    ["no type", "", text("x")],
    ["a list of types", "image/png, text/html", png(1, 1)],
    ["half a signature", "image/png", png(1, 1).slice(0, 7)],
  ])("%s: 415", async (_what, type, bytes) => {
    const { status, body } = await upload(freshRoom(), bytes, { type });
    expect({ status, body }).toMatchObject({ status: 415, body: refusal("UNSUPPORTED_MEDIA_TYPE") });
  });

  it("more than FILE_BYTES_MAX: 413 that names the limit, and exactly so much is taken", async () => {
    const room = freshRoom();
    expect(await upload(room, png(1, 1, 1_000_000))).toMatchObject({ status: 201 });
    const { status, body } = await upload(room, png(1, 1, 1_000_001));
    expect({ status, body }).toMatchObject({ status: 413, body: refusal("TOO_LONG") });
    expect(body.error!.message).toContain("1000000 bytes");
  });

  it("an empty file: 400; no Content-Length: 411", async () => {
    const room = freshRoom();
    expect(await upload(room, new Uint8Array())).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    const headers = { "Content-Length": "many" };
    expect(await upload(room, png(1, 1), { headers })).toMatchObject({ status: 411, body: refusal("LENGTH_REQUIRED") });
  });

  it.each([
    ["image/png", 63],
    ["image/png", 65],
    ["text/plain", 63],
    ["text/plain", 65],
  ])("a body of another length than Content-Length (%s, %i): 400, and nothing is stored", async (type, length) => {
    const room = freshRoom();
    const headers = { "Content-Length": String(length) };
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(png(1, 1));
        controller.close();
      },
    });
    expect(await upload(room, body, { type, headers })).toMatchObject({
      status: 400,
      body: refusal("INVALID_PAYLOAD"),
    });
    expect((await env.FILES.list({ prefix: `${room}!` })).objects).toEqual([]);
  });

  it.each(["name=a&name=b", `name=${"x".repeat(1025)}`])("?%s…: 400", async (query) => {
    const path = `/api/rooms/${freshRoom()}/files?${query}`;
    const refused = await callApi("POST", path, { body: "x", headers: { "Content-Type": "text/plain" } });
    expect(refused).toMatchObject({ status: 400, body: { error: { issues: [{ path: "name" }] } } });
  });

  it("an impossible room name: 400", async () => {
    expect(await upload("..%2Fx", png(1, 1))).toMatchObject({ status: 400, body: refusal("BAD_ROOM") });
  });

  it("other types where the settings allow them", async () => {
    const fetcher = workerWith({ FILE_TYPES: "application/x-own, image/gif" });
    const room = freshRoom();
    expect(await upload(room, text("x"), { type: "application/x-own", fetcher })).toMatchObject({ status: 201 });
    for (const type of ["text/plain", "image/png", "image/gif"]) {
      expect(await upload(room, png(1, 1), { type, fetcher })).toMatchObject({ status: 415 });
    }
  });
});

describe("users without the right to upload: FILE-1", () => {
  const refusedAs = async (room: string, as: Parameters<typeof upload>[2] = {}) => {
    const { status, body } = await upload(room, png(1, 1), as);
    expect((await env.FILES.list({ prefix: `${room}!` })).objects).toEqual([]);
    return { status, code: body.error?.code };
  };

  it("no token: 401", async () => {
    expect(await refusedAs(freshRoom(), { as: null })).toEqual({ status: 401, code: "UNAUTHORIZED" });
  });

  it("the bearer of a token for another room: 403", async () => {
    const room = freshRoom();
    expect(await refusedAs(room, { as: { rooms: [`${room}x`] } })).toEqual({ status: 403, code: "FORBIDDEN_ROOM" });
  });

  it("a reader: 403, unless the room made them a member", async () => {
    const room = freshRoom();
    const as = { user: "rita", role: "reader" };
    expect(await refusedAs(room, { as })).toEqual({ status: 403, code: "FORBIDDEN" });
    const rita = await join(room, "rita");
    await moderate(room, "grant", { user: "rita", role: "member" });
    expect(await upload(room, png(1, 1), { as })).toMatchObject({ status: 201 });
    rita.close();
  });

  it("a banned or muted user, or one in a read-only room: 403", async () => {
    const room = freshRoom();
    await moderate(room, "ban", { user: "bad", seconds: 60 });
    await moderate(room, "mute", { user: "loud", seconds: 60 });
    expect(await refusedAs(room, { as: { user: "bad" } })).toEqual({ status: 403, code: "FORBIDDEN" });
    expect(await refusedAs(room, { as: { user: "loud" } })).toEqual({ status: 403, code: "MUTED" });
    await moderate(room, "read-only", { on: true });
    expect(await refusedAs(room)).toEqual({ status: 403, code: "ROOM_READ_ONLY" });
    expect(await upload(room, png(1, 1), { as: { role: "moderator" } })).toMatchObject({ status: 201 });
  });

  it("a user with too many uploads at once: 429 with Retry-After", async () => {
    const room = freshRoom();
    const all = await Promise.all(Array.from({ length: 14 }, () => upload(room, png(1, 1))));
    const refused = all.filter(({ status }) => status !== 201);
    expect(refused.length).toBeGreaterThan(0);
    expect(all.length - refused.length).toBeGreaterThanOrEqual(10);
    for (const { status, body, headers } of refused) {
      expect({ status, body }).toMatchObject({ status: 429, body: refusal("RATE_LIMITED") });
      expect(Number(headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
    }
    expect(await upload(room, png(1, 1), { as: { user: "ben" } })).toMatchObject({ status: 201 });
  });

  it("a user acting for another one: 403; a service may", async () => {
    const room = freshRoom();
    for (const role of ["member", "moderator"]) {
      expect(await refusedAs(room, { as: { role }, for: "ben" })).toEqual({ status: 403, code: "FORBIDDEN" });
    }
    const attachment = await uploaded(room, png(1, 1), { as: { user: "backend", role: "service" }, for: "ben" });
    const post = (as: string) =>
      callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "", attachment, as } });
    expect(await post("cyd")).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    expect(await post("ben")).toMatchObject({ status: 201 });
  });
});

describe("failures: FILE-1", () => {
  it("a failure of the storage is a 503", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const broken = {
      put: () => Promise.reject(new Error("R2 is away: secret")),
      get: () => Promise.reject(new Error("away")),
    };
    const fetcher = workerWith({ FILES: broken });
    const room = freshRoom();
    for (const type of ["image/png", "text/plain"]) {
      const { status, body, headers } = await upload(room, png(1, 1, 200_000), { type, fetcher });
      expect({ status, body }).toMatchObject({ status: 503, body: refusal("UNAVAILABLE") });
      expect(headers.get("Retry-After")).toBe("1");
      expect(JSON.stringify(body)).not.toContain("secret");
    }
    const { key } = await uploaded(room, png(1, 1));
    expect((await read(key, { fetcher })).status).toBe(503);
    log.mockRestore();
  });

  it("a client that goes away in the middle of an upload leaves nothing behind", async () => {
    const room = freshRoom();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error("the tab was closed"));
      },
    });
    const headers = { "Content-Length": "100" };
    const settled = await requestUpload(room, body, { type: "text/plain", headers }).then(
      ({ status }) => status,
      () => 499,
    );
    expect(settled).toBeGreaterThanOrEqual(400);
    expect((await env.FILES.list({ prefix: `${room}!` })).objects).toEqual([]);
  });
});

describe("UPLOAD_BYTES_PER_USER_DAY: FILE-8", () => {
  const bytes = (size: number): Uint8Array<ArrayBuffer> => text("x".repeat(size));
  const send = (user: string, size: number, more: Parameters<typeof upload>[2] = {}) =>
    upload(freshRoom(), bytes(size), { type: "text/plain", as: { user }, ...more });

  it("counts of an upload that fails what came of it", async () => {
    const fetcher = workerWith({ UPLOAD_BYTES_PER_USER_DAY: "1000" });
    await withSettings({ UPLOAD_BYTES_PER_USER_DAY: "1000" }, async () => {
      const user = `up-${crypto.randomUUID()}`;
      // Text in the place of an image, and fewer bytes than announced.
      const broken = await send(user, 900, { fetcher, type: "image/png" });
      expect(broken.status).toBe(415);
      const short = { "Content-Length": "50" };
      expect((await send(user, 10, { fetcher, headers: short })).status).toBe(400);
      expect((await send(user, 80, { fetcher })).status).toBe(201);
    });
  });

  it("refuses the bytes beyond it, in whatever room, and names the setting; other users and services are free", async () => {
    const fetcher = workerWith({ UPLOAD_BYTES_PER_USER_DAY: "1000" });
    await withSettings({ UPLOAD_BYTES_PER_USER_DAY: "1000" }, async () => {
      const [user, other] = [`up-${crypto.randomUUID()}`, `up-${crypto.randomUUID()}`];
      expect((await send(user, 600, { fetcher })).status).toBe(201);
      const refused = await send(user, 600, { fetcher });
      expect(refused).toMatchObject({
        status: 429,
        body: { error: { code: "RATE_LIMITED", message: expect.stringContaining("UPLOAD_BYTES_PER_USER_DAY") } },
      });
      expect(refused.body.error!.retryAfterMs).toBeGreaterThan(86_000_000);
      expect((await send(user, 400, { fetcher })).status).toBe(201);
      expect((await send(user, 1, { fetcher })).status).toBe(429);
      expect((await send(other, 1000, { fetcher })).status).toBe(201);
      expect(await send(other, 1001, { fetcher })).toMatchObject({
        status: 413,
        body: { error: { code: "TOO_LONG", message: expect.stringContaining("UPLOAD_BYTES_PER_USER_DAY") } },
      });
      for (let i = 0; i < 2; i++)
        expect((await send("backend", 900, { fetcher, as: { user: "backend", role: "service" } })).status).toBe(201);
    });
  });
});

describe("GET /api/files: FILE-9", () => {
  it("lists files of the rooms that the token opens, in pages, with who uploaded them", async () => {
    const room = `listed-${freshRoom()}`.slice(0, 60);
    const first = await uploaded(room, png(3, 4), { name: "größe.png", as: { user: "ada" } });
    const second = await uploaded(room, text("a,b"), { type: "text/csv", name: "t.csv", as: { user: "ben" } });
    const options = { as: { rooms: [room] } };
    const all = await callApi("GET", `/api/files?room=${room}`, options);
    expect(all.body.files).toEqual([
      {
        key: first.key,
        room,
        user: "ada",
        name: "größe.png",
        type: "image/png",
        size: 64,
        uploadedAt: expect.any(Number),
      },
      { key: second.key, room, user: "ben", name: "t.csv", type: "text/csv", size: 3, uploadedAt: expect.any(Number) },
    ]);
    const page = await callApi("GET", `/api/files?room=${room}&limit=1`, options);
    expect(page.body).toMatchObject({ files: [{ key: first.key }], hasMore: true });
    const next = /<(.*)>/.exec(page.headers.get("Link")!)![1]!;
    expect((await callApi("GET", next, options)).body).toMatchObject({ files: [{ key: second.key }], hasMore: false });
    expect((await callApi("GET", "/api/files", { as: { rooms: ["other"] } })).body.files).toEqual([]);
    expect(await callApi("GET", `/api/files?room=${room}`, { as: { rooms: ["other"] } })).toMatchObject({
      status: 403,
    });
    expect(await callApi("GET", "/api/files", { as: { user: "ada", role: "moderator" } })).toMatchObject({
      status: 403,
    });
  });
});
