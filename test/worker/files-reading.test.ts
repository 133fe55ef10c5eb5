// Reading files: permissions, ranges, headers that keep a page safe. FILE-3, FILE-4
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import type { ChatRoom } from "../../durable/chat-room.ts";
import { READER_MS } from "../../src/worker/api/files/readers.ts";
import { callApi, refusal } from "../durable/api-caller.ts";
import { png, read, text, uploaded } from "../durable/files.ts";
import { RawClient } from "../durable/raw-client.ts";
import { freshRoom, Sleeper, tokenFor, workerWith } from "../durable/rooms.ts";

/** A Worker whose rooms count the questions about readers. */
function countingWorker(): { fetcher: ReturnType<typeof workerWith>; asked: ReturnType<typeof vi.fn> } {
  const asked = vi.fn();
  const CHAT_ROOM = {
    getByName(name: string) {
      const stub = env.CHAT_ROOM.getByName(name);
      const permitReading: ChatRoom["permitReading"] = (...args) => {
        asked(name);
        return stub.permitReading(...args);
      };
      const passTo: ChatRoom["passTo"] = (...args) => {
        asked(name);
        return stub.passTo(...args);
      };
      return { permitReading, passTo };
    },
  };
  return { fetcher: workerWith({ CHAT_ROOM }), asked };
}

const bodyOf = async (response: Response): Promise<unknown> => JSON.parse(await response.text());

describe("a file that is read: FILE-3", () => {
  it("comes with headers that let no page run it", async () => {
    const { key } = await uploaded(freshRoom(), png(1, 1), { name: "me.png" });
    const { status, headers } = await read(key, { as: { user: "ben", role: "reader" } });
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": 'inline; filename="me.png"',
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-cache",
      "cross-origin-resource-policy": "same-origin",
      "accept-ranges": "bytes",
      "content-length": "64",
      etag: expect.stringMatching(/^"\w+"$/),
      vary: expect.stringContaining("Authorization"),
    });
  });

  it.each([
    ["text/plain", "attachment"],
    ["video/mp4", "inline"],
  ])("of type %s is %s", async (type, how) => {
    const { key } = await uploaded(freshRoom(), text("<script>"), { type, name: "déjà.x" });
    const { headers } = await read(key);
    expect(headers.get("Content-Type")).toBe(type);
    expect(headers.get("Content-Disposition")).toBe(`${how}; filename="d_j_.x"; filename*=UTF-8''d%C3%A9j%C3%A0.x`);
  });

  it("answers 304 to a client that has it, and 404 once it is deleted", async () => {
    const room = freshRoom();
    const { key } = await uploaded(room, png(1, 1));
    const etag = (await read(key)).headers.get("ETag")!;
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await read(key, { headers: { "If-None-Match": tag } });
      expect([response.status, await response.text(), response.headers.get("ETag")]).toEqual([304, "", etag]);
    }
    expect((await read(key, { headers: { "If-None-Match": '"other"' } })).status).toBe(200);
    await env.FILES.delete(key);
    expect((await read(key, { headers: { "If-None-Match": etag } })).status).toBe(404);
  });

  it("answers HEAD without a body", async () => {
    const { key } = await uploaded(freshRoom(), png(1, 1, 100));
    const response = await read(key, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("Content-Length")).toBe("100");
    expect(response.headers.get("Content-Type")).toBe("image/png");
    expect((await read(`${key.slice(0, -4)}0000`, { method: "HEAD" })).status).toBe(404);
  });

  it("in part, where a Range asks for it; 416 where there is no such part", async () => {
    const { key } = await uploaded(freshRoom(), text("0123456789"), { type: "text/plain" });
    const ask = (Range: string): Promise<Response> => read(key, { headers: { Range } });
    for (const [range, status, content, contentRange] of [
      ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
      ["bytes=4-", 206, "456789", "bytes 4-9/10"],
      ["bytes=-3", 206, "789", "bytes 7-9/10"],
      ["bytes=-30", 206, "0123456789", "bytes 0-9/10"],
      ["bytes=8-100", 206, "89", "bytes 8-9/10"],
      ["bytes=3-1", 200, "0123456789", null],
      ["bytes=0-1,3-4", 200, "0123456789", null],
      ["lines=1-2", 200, "0123456789", null],
    ] as const) {
      const response = await ask(range);
      expect([range, response.status, await response.text()]).toEqual([range, status, content]);
      expect(response.headers.get("Content-Range")).toBe(contentRange);
      expect(response.headers.get("Content-Length")).toBe(String(content.length));
    }
    for (const range of ["bytes=10-", "bytes=10-20", "bytes=-0"]) {
      const response = await ask(range);
      expect([range, response.status, await bodyOf(response)]).toEqual([range, 416, refusal("RANGE_NOT_SATISFIABLE")]);
      expect(response.headers.get("Content-Range")).toBe("bytes */10");
    }
  });

  it("continues in part only where it is still the same", async () => {
    const { key } = await uploaded(freshRoom(), text("0123456789"), { type: "text/plain" });
    const etag = (await read(key)).headers.get("ETag")!;
    const from = async (tag: string) => (await read(key, { headers: { Range: "bytes=5-", "If-Range": tag } })).text();
    expect(await from(etag)).toBe("56789");
    expect(await from('"other"')).toBe("0123456789");
    expect(await from("Wed, 21 Oct 2015 07:28:00 GMT")).toBe("0123456789");
  });

  it("is for pages of allowed origins, as the API is", async () => {
    const { key } = await uploaded(freshRoom(), png(1, 1));
    const preflight = await read(key, {
      as: null,
      method: "OPTIONS",
      headers: { Origin: "https://app.test", "Access-Control-Request-Method": "GET" },
    });
    expect([preflight.status, preflight.headers.get("Access-Control-Allow-Origin")]).toEqual([204, "https://app.test"]);
    const { headers } = await read(key, { headers: { Origin: "https://app.test" } });
    expect(headers.get("Access-Control-Allow-Origin")).toBe("https://app.test");
    expect(headers.get("Access-Control-Expose-Headers")).toContain("Content-Disposition");
    expect(headers.get("Vary")).toMatch(/Authorization/);
    expect((await read(key, { method: "DELETE" })).status).toBe(405);
  });
});

describe("permission to read a file: FILE-4", () => {
  it("no client without a token, and no token in the address", async () => {
    const { key } = await uploaded(freshRoom(), png(1, 1));
    const token = await tokenFor("ada");
    for (const path of [key, `${key}?token=${token}`]) {
      const response = await read(path, { as: null });
      expect([response.status, response.headers.get("WWW-Authenticate")]).toEqual([401, "Bearer"]);
    }
  });

  it("no user whose token does not open the room, and the answer does not tell whether there is such a file", async () => {
    const room = freshRoom();
    const { key } = await uploaded(room, png(1, 1));
    const as = { rooms: [`${room}-2`] };
    const answers = [];
    for (const each of [key, key.replace(/.{4}$/, "0000"), `no-such-room${key.slice(room.length)}`]) {
      const response = await read(each, { as });
      answers.push([response.status, await response.text()]);
    }
    expect(answers[0]).toEqual([404, expect.stringContaining("NOT_FOUND")]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  it("a key of another form: 404", async () => {
    const { key } = await uploaded(freshRoom(), png(1, 1));
    for (const [what, path] of Object.entries({
      "up a folder": `../${key}`,
      "up a folder, hidden": `..%2F${key}`,
      "twice hidden": `..%252f${key}`,
      "with a slash in it": key.replace("!", "%2F"),
      "with more behind it": `${key}/..`,
      "with a zero byte": `${key}%00`,
      "with a line break": `${key}%0A`,
      "in wide letters": `\uFF0E\uFF0E${key}`,
      "in capitals": key.toUpperCase(),
      "its room alone": key.slice(0, key.indexOf("!") + 1),
      "half of an escape": `${key}%E0%A4%A`,
      "very long": "x".repeat(5000),
      empty: "",
    })) {
      const response = await read(path);
      expect({ status: response.status, body: await bodyOf(response) }, what).toMatchObject({
        status: 404,
        body: refusal("NOT_FOUND"),
      });
    }
  });

  it("a made-up key wakes no room", async () => {
    const { fetcher, asked } = countingWorker();
    const { key } = await uploaded(freshRoom(), png(1, 1));
    expect((await read(key.replace(/.{4}$/, "0000"), { fetcher })).status).toBe(404);
    expect((await read(key.replace(/^[^!]+/, "never-used"), { fetcher })).status).toBe(404);
    expect((await read(`${key.replace(/.{4}$/, "0000")}/link`, { fetcher })).status).toBe(404);
    expect(asked).not.toHaveBeenCalled();
  });

  it("asks the room once a minute about each reader, for any number of images", async () => {
    const { fetcher, asked } = countingWorker();
    const room = freshRoom();
    const keys: string[] = [];
    for (let i = 0; i < 4; i++) keys.push((await uploaded(room, png(1, 1))).key);
    const look = (user: string) =>
      Promise.all(keys.map(async (key) => (await read(key, { as: { user }, fetcher })).status));
    expect((await read(keys[0]!, { as: { user: "ada" }, fetcher })).status).toBe(200);
    expect(await look("ada")).toEqual([200, 200, 200, 200]);
    expect(asked).toHaveBeenCalledTimes(1);
    expect((await read(keys[0]!, { as: { user: "ben" }, fetcher })).status).toBe(200);
    expect(asked).toHaveBeenCalledTimes(2);
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + READER_MS + 1);
    expect((await read(keys[0]!, { as: { user: "ada" }, fetcher })).status).toBe(200);
    expect(asked).toHaveBeenCalledTimes(3);
    now.mockRestore();
  });

  it("no banned user; others may, also after the room slept", async () => {
    const room = freshRoom();
    const { key } = await uploaded(room, png(1, 1));
    const mona = await RawClient.open({ room });
    await mona.connect({ token: await tokenFor("mona", { role: "moderator" }) });
    await mona.ask("ban", { user: "bad", seconds: 60 });
    await new Sleeper(room).sleep();
    const response = await read(key, { as: { user: "bad" } });
    expect({ status: response.status, body: await bodyOf(response) }).toMatchObject({
      status: 403,
      body: { error: { code: "FORBIDDEN", retryAfterMs: expect.any(Number) } },
    });
    expect((await read(key, { as: { user: "ben" } })).status).toBe(200);
  });

  it("the isolate that deleted a room serves none of its files, even while they are still stored", async () => {
    const room = freshRoom();
    const { key } = await uploaded(room, png(1, 1));
    expect((await read(key)).status).toBe(200);
    const broken = vi.spyOn(env.FILES, "delete").mockImplementation(() => Promise.reject(new Error("away")));
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await callApi("DELETE", `/api/rooms/${room}`);
    expect(await env.FILES.head(key)).not.toBeNull();
    expect((await read(key)).status).toBe(404);
    broken.mockRestore();
    log.mockRestore();
  });

  it("another isolate serves a recent reader for a minute, or until it asks the room about any reader", async () => {
    const { fetcher } = countingWorker();
    const room = freshRoom();
    const { key } = await uploaded(room, png(1, 1));
    const look = async (user: string): Promise<number> => (await read(key, { as: { user }, fetcher })).status;
    expect([await look("ada"), await look("ben")]).toEqual([200, 200]);
    const broken = vi.spyOn(env.FILES, "delete").mockImplementation(() => Promise.reject(new Error("away")));
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await callApi("DELETE", `/api/rooms/${room}`);
    expect([await look("ada"), await look("cyd"), await look("ada"), await look("ben")]).toEqual([200, 404, 404, 404]);
    broken.mockRestore();
    log.mockRestore();
  });

  it("too many calls: 429", async () => {
    const fetcher = workerWith({ API_RATE: "0.5", API_BURST: "2" });
    const { key } = await uploaded(freshRoom(), png(1, 1));
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await read(key, { as: { user: "busy" }, fetcher })).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe("a pass to a file: FILE-10", () => {
  const passTo = async (key: string, as = { user: "ben", role: "reader" }): Promise<string> =>
    (await (await read(`${key}/link`, { as })).json<{ pass: string }>()).pass;

  it("opens that file without a token, also in part and for players in pages of other origins", async () => {
    const { key } = await uploaded(freshRoom(), text("0123456789"), { type: "video/mp4" });
    const linked = await read(`${key}/link`, { as: { user: "grün 😀", role: "reader" } });
    const { ok, pass, until } = await linked.json<{ ok: boolean; pass: string; until: number }>();
    expect([linked.status, ok, until > Date.now(), encodeURIComponent(pass)]).toEqual([200, true, true, pass]);
    const whole = await read(`${key}?pass=${pass}`, { as: null });
    expect([whole.status, await whole.text()]).toEqual([200, "0123456789"]);
    expect(whole.headers.get("Cross-Origin-Resource-Policy")).toBe("cross-origin");
    expect(whole.headers.get("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
    const headers = { Range: "bytes=4-5", Origin: "https://foreign.test" };
    const part = await read(`${key}?pass=${pass}`, { as: null, headers });
    expect([part.status, await part.text()]).toEqual([206, "45"]);
  });

  it("opens no other file, no call but this one, and nothing once it is changed", async () => {
    const room = freshRoom();
    const [{ key }, other] = [await uploaded(room, png(1, 1)), await uploaded(room, png(2, 2))];
    const pass = await passTo(key);
    const [until, role, user, mac] = pass.split(".") as [string, string, string, string];
    const refused = [
      `${other.key}?pass=${pass}`,
      `${key}?pass=`,
      `${key}?pass=${[`${until}0`.slice(1), role, user, mac].join(".")}`,
      `${key}?pass=${[until, "service", user, mac].join(".")}`,
      `${key}?pass=${[until, role, "0061", mac].join(".")}`,
      `${key}?pass=${[until, role, user, "0".repeat(32)].join(".")}`,
      `${key}?pass=${encodeURIComponent('"><script>')}`,
      `${key}/link?pass=${pass}`,
    ];
    for (const path of refused) expect([path, (await read(path, { as: null })).status]).toEqual([path, 401]);
    expect((await read(`${key}?pass=${pass}`, { as: null })).status).toBe(200);
    await env.FILES.delete(key);
    expect((await read(`${key}?pass=${pass}`, { as: null })).status).toBe(404);
    expect((await read(`${key}/link`, { as: { user: "ben" } })).status).toBe(404);
  });

  it("is for users who may read the file", async () => {
    const room = freshRoom();
    const { key } = await uploaded(room, png(1, 1));
    expect((await read(`${key}/link`, { as: null })).status).toBe(401);
    expect((await read(`${key}/link`, { as: { rooms: ["elsewhere"] } })).status).toBe(404);
    const mona = await RawClient.open({ room });
    await mona.connect({ token: await tokenFor("mona", { role: "moderator" }) });
    const pass = await passTo(key);
    await mona.ask("ban", { user: "ben", seconds: 60 });
    expect((await read(`${key}/link`, { as: { user: "ben" } })).status).toBe(403);
    expect((await read(`${key}?pass=${pass}`, { as: null })).status).toBe(403);
  });
});
