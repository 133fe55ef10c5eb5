// Long-polling as it travels: EIO-8.
import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { upgrade } from "./raw-client.ts";
import { freshRoom, join, tokenFor, workerWith } from "./rooms.ts";
import { SEPARATOR } from "../wire/wire-client.ts";
import {
  PAYLOAD_BYTES_MAX,
  UNKNOWN_SID,
  BAD_REQUEST,
  request,
  answerOf,
  textOf,
  Poller,
  isStillWaiting,
  say,
  messagesIn,
} from "./poller.ts";

describe("a polling session: EIO-8", () => {
  it("the first poll brings the handshake: EIO-1", async () => {
    const response = await request({ room: freshRoom() });
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const body = await response.text();
    expect(body[0]).toBe("0");
    expect(JSON.parse(body.slice(1))).toEqual({
      sid: expect.stringMatching(/^[\w-]{20}$/),
      upgrades: ["websocket"],
      pingInterval: 45_000,
      pingTimeout: 30_000,
      maxPayload: PAYLOAD_BYTES_MAX,
    });
  });

  it("CONNECT goes out by post; its answer and the welcome come in one payload", async () => {
    const poller = await Poller.open();
    const posted = await poller.post(`40${JSON.stringify({ token: await tokenFor("ada") })}`);
    expect(await textOf(posted)).toEqual({ status: 200, body: "ok" });
    const { body } = await textOf(poller.poll());
    const [connect, welcome] = body.split(SEPARATOR);
    expect(connect).toMatch(/^40\{"sid":"[\w-]{20}"/);
    expect(welcome).toMatch(/^42\["welcome",\{/);
  });

  it("a payload carries many packets, both ways and in order", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    await poller.post([say("one", 1), say("two", 2), say("three", 3)].join(SEPARATOR));
    const packets = await poller.pollUntil((packet) => packet.startsWith("433["));
    expect(messagesIn(packets).map(({ content }) => content)).toEqual(["one", "two", "three"]);
    const acks = packets.filter((packet) => /^43\d\[/.test(packet));
    expect(acks.map((packet) => packet.slice(0, 4))).toEqual(["431[", "432[", "433["]);
  });

  it.each<[whose: string, headers: Record<string, string>, packets: number]>([
    ["a client that says nothing of a page", {}, 16],
    ["a page of another server", { Origin: "https://app.example" }, 40],
    ["a page of its own server", { "Sec-Fetch-Site": "same-origin" }, 40],
    ["a client on Node", { "User-Agent": "node-XMLHttpRequest" }, 40],
    ["a client on Python", { "User-Agent": "python-requests/2.32.3" }, 16],
  ])("a poll of %s brings 16 packets at most, or all to a client in JavaScript", async (_whose, headers, packets) => {
    const poller = await Poller.join(freshRoom(), "ada", headers);
    const asks = Array.from({ length: 40 }, (_, at) => `42${at}["presence",{}]`);
    await poller.post(asks.join(SEPARATOR));
    const polls: string[][] = [];
    while (polls.flat().length < asks.length) polls.push((await textOf(poller.poll())).body.split(SEPARATOR));
    expect(polls.flat().map((packet) => packet.slice(0, packet.indexOf("[")))).toEqual(asks.map((_, at) => `43${at}`));
    expect(polls[0]).toHaveLength(packets);
  });

  it("a poll waits for messages of others", async () => {
    const room = freshRoom();
    const poller = await Poller.join(room, "ada");
    const ben = await join(room, "ben");
    await poller.pollUntil((packet) => packet.includes('"user":"ben"'));
    const poll = poller.poll();
    expect(await isStillWaiting(poll)).toBe(true);
    ben.emit("chat-message", { content: "good morning" });
    const { body } = await textOf(poll);
    expect(messagesIn(body.split(SEPARATOR))).toMatchObject([{ sender: "ben", content: "good morning" }]);
  });

  it("binary data travels as base64, and bad base64 closes the session", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    await poller.post(`451-7["chat-message",{"_placeholder":true,"num":0}]${SEPARATOR}bAQIDBA==`);
    const packets = await poller.pollUntil((packet) => packet.startsWith("437["));
    // Bytes are no message, but they arrived as the argument of that event.
    expect(packets.at(-1)).toContain('"code":"INVALID_PAYLOAD"');
    expect((await poller.post("b!")).status).toBe(400);
    await poller.isGone();
  });

  it("a second concurrent poll ends the session: the first one gets the close packet, the second is refused", async () => {
    const poller = await Poller.open();
    const first = poller.poll();
    expect(await isStillWaiting(first)).toBe(true);
    expect(await answerOf(poller.poll())).toEqual({ status: 400, body: BAD_REQUEST });
    expect(await textOf(first)).toEqual({ status: 200, body: "1" });
    await poller.isGone();
  });

  it("a pong may arrive while a post is under way, as clients with several threads send it", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    const end = await poller.beginPost('421["nothing",');
    // The first few may arrive after it; finished ones do not count.
    for (let pongs = 0; pongs < 20; pongs++)
      expect(await textOf(poller.post("3"))).toEqual({ status: 200, body: "ok" });
    expect((await end('"x"]')).status).toBe(200);
    await poller.pollUntil((packet) => packet.startsWith("431["));
  });

  it("a fifth concurrent post ends the session", async () => {
    const poller = await Poller.open();
    const ends = await Promise.all([1, 2, 3, 4].map(() => poller.beginPost("6")));
    // They may still be on their way when the fifth one arrives.
    await vi.waitFor(async () => {
      expect(await answerOf(poller.post("6"))).toEqual({ status: 400, body: BAD_REQUEST });
    });
    for (const end of ends) expect((await end("")).status).toBe(400);
    await poller.isGone();
  });

  it.each([
    [PAYLOAD_BYTES_MAX, 200],
    [PAYLOAD_BYTES_MAX + 1, 413],
  ])("a post of %d bytes: %d, EIO-6", async (bytes, status) => {
    const poller = await Poller.join(freshRoom(), "ada");
    const [head, tail] = ['421["nothing","', '"]'];
    expect((await poller.post(head + "x".repeat(bytes - head.length - tail.length) + tail)).status).toBe(status);
    if (status === 413) return poller.isGone();
    await poller.pollUntil((packet) => packet.startsWith("431["));
  });

  it("a close packet ends the session: the poll that waits gets a noop", async () => {
    const poller = await Poller.open();
    const poll = poller.poll();
    expect(await isStillWaiting(poll)).toBe(true);
    expect(await textOf(poller.post("1"))).toEqual({ status: 200, body: "ok" });
    expect(await textOf(poll)).toEqual({ status: 200, body: "6" });
    await poller.isGone();
  });
});

describe("a session id", () => {
  it("that is unknown: 400, for polls, posts and WebSockets", async () => {
    const unknown = { room: freshRoom(), sid: "x".repeat(20) };
    expect(await answerOf(request(unknown))).toEqual({ status: 400, body: UNKNOWN_SID });
    expect(await answerOf(request({ ...unknown, method: "POST", body: "40" }))).toEqual({
      status: 400,
      body: UNKNOWN_SID,
    });
    const refused = await upgrade({ room: unknown.room, query: { sid: unknown.sid } });
    expect(await answerOf(refused)).toEqual({ status: 400, body: UNKNOWN_SID });
  });

  it.each(["", "x".repeat(19), "x".repeat(21), `${"x".repeat(19)}/`])(
    "that cannot be one (%j): 400, and no room is asked",
    async (sid) => {
      const before = await listDurableObjectIds(env.CHAT_ROOM);
      const unknown = { room: freshRoom(), sid };
      expect(await answerOf(request(unknown))).toEqual({ status: 400, body: UNKNOWN_SID });
      expect((await request({ ...unknown, method: "POST", body: "40" })).status).toBe(400);
      expect((await upgrade({ room: unknown.room, query: { sid } })).status).toBe(400);
      expect(await listDurableObjectIds(env.CHAT_ROOM)).toHaveLength(before.length);
    },
  );
});

describe("pages of other origins", () => {
  const Origin = "https://chat.example";
  const fetcher = workerWith({ ALLOWED_ORIGINS: Origin });
  const corsOf = ({ headers }: Response): Array<string | null> => [
    headers.get("Access-Control-Allow-Origin"),
    headers.get("Access-Control-Allow-Credentials"),
  ];

  it("may read every answer, also refusals, with credentials", async () => {
    const room = freshRoom();
    const opened = await request({ room, fetcher, headers: { Origin } });
    expect(corsOf(opened)).toEqual([Origin, "true"]);
    expect(opened.headers.get("Vary")).toContain("Origin");
    const { sid } = JSON.parse((await opened.text()).slice(1)) as { sid: string };
    const posted = await request({ room, sid, fetcher, method: "POST", body: "1", headers: { Origin } });
    expect(corsOf(posted)).toEqual([Origin, "true"]);
    for (const unknown of [sid, "malformed"]) {
      const refused = await request({ room, sid: unknown, fetcher, headers: { Origin } });
      expect(refused.status).toBe(400);
      expect(corsOf(refused)).toEqual([Origin, "true"]);
    }
  });

  it("a preflight is answered without a call of the room", async () => {
    const before = await listDurableObjectIds(env.CHAT_ROOM);
    const headers = { Origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-mine" };
    const response = await request({ room: freshRoom(), fetcher, method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(corsOf(response)).toEqual([Origin, "true"]);
    expect(response.headers.get("Access-Control-Allow-Methods")).toMatch(/\bPOST\b/);
    expect(response.headers.get("Access-Control-Allow-Headers")).toBe("x-mine");
    expect(await listDurableObjectIds(env.CHAT_ROOM)).toHaveLength(before.length);
  });

  it("that are not allowed are refused and cannot read the answer", async () => {
    for (const method of ["GET", "OPTIONS"]) {
      const headers = { Origin: "https://evil.example" };
      const response = await request({ room: freshRoom(), fetcher, method, headers });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(corsOf(response)).toEqual([null, null]);
      await response.text();
    }
  });

  it("a request without Origin gets no CORS headers", async () => {
    const response = await request({ room: freshRoom(), fetcher });
    expect(corsOf(response)).toEqual([null, null]);
    await response.text();
  });
});

describe("TRANSPORTS", () => {
  const unknownTransport = { status: 400, body: { code: 0, message: "Transport unknown" } };

  it("websocket alone: a poll is refused", async () => {
    const fetcher = workerWith({ TRANSPORTS: "websocket" });
    expect(await answerOf(request({ room: freshRoom(), fetcher }))).toEqual(unknownTransport);
  });

  it("polling alone: a WebSocket is refused, and none is offered", async () => {
    const fetcher = workerWith({ TRANSPORTS: "polling" });
    expect(await answerOf(upgrade({ room: freshRoom(), fetcher }))).toEqual(unknownTransport);
    const variables = env as Record<string, unknown>;
    variables["TRANSPORTS"] = "polling";
    try {
      expect((await Poller.open()).handshake.upgrades).toEqual([]);
    } finally {
      delete variables["TRANSPORTS"];
    }
  });
});
