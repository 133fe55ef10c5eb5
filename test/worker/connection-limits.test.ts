// Limits of connections: per address and minute, per address and room, per room.
import { exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import { request as poll } from "../durable/poller.ts";
import { ORIGIN, RawClient, upgrade } from "../durable/raw-client.ts";
import { freshRoom, join, Sleeper, tokenFor, useSettings, withSettings, workerWith } from "../durable/rooms.ts";

useSettings({ MAX_CONNECTIONS_PER_IP: "2", MAX_CONNECTIONS_PER_USER: "2" });

const from = (address: string): { headers: Record<string, string> } => ({ headers: { "CF-Connecting-IP": address } });
const tooMany = { error: { code: "TOO_MANY_CONNECTIONS", message: expect.any(String) } };

async function expectTooMany(response: Response): Promise<number> {
  expect(response.status).toBe(429);
  expect(await response.json()).toEqual(tooMany);
  return Number(response.headers.get("Retry-After"));
}

describe("MAX_CONNECTIONS_PER_IP", () => {
  it("the third connection of an address to a room is refused; other rooms and addresses are not", async () => {
    const room = freshRoom();
    await join(room, "ada", from("10.0.0.1"));
    await join(room, "ada", from("10.0.0.1"));
    const retryAfter = await expectTooMany(await upgrade({ room, ...from("10.0.0.1") }));
    expect(retryAfter).toBeGreaterThan(0);
    await RawClient.open({ room, ...from("10.0.0.2") });
    await RawClient.open({ room: freshRoom(), ...from("10.0.0.1") });
  });

  it("LIM-1: a network of IPv6 is one address, and long-polling counts with the WebSockets", async () => {
    const room = freshRoom();
    await join(room, "ada", from("2001:db8::1"));
    expect((await poll({ room, ...from("2001:db8::2") })).status).toBe(200);
    await expectTooMany(await upgrade({ room, ...from("2001:db8::3") }));
    await expectTooMany(await poll({ room, ...from("2001:db8:0:0:ffff::4") }));
    await RawClient.open({ room, ...from("2001:db8:0:1::1") });
  });

  it("LIM-1: WebSockets that were refused to a session count until they are gone", async () => {
    const line = { room: freshRoom(), ...from("10.0.0.4") };
    const { sid } = JSON.parse((await (await poll(line)).text()).slice(1)) as { sid: string };
    const second = (): Promise<Response> => upgrade({ ...line, query: { sid } });
    const probe = (await second()).webSocket!;
    probe.accept();
    const strays: WebSocket[] = [];
    for (let i = 0; i < 3; i++) {
      const { status, webSocket } = await second();
      expect(status).toBe(101);
      strays.push(webSocket!);
      // It hears that it is closed, and never answers.
      const closing = new Promise((resolve) => webSocket!.addEventListener("close", resolve));
      webSocket!.accept({ allowHalfOpen: true });
      await closing;
    }
    await expectTooMany(await second());
    await expectTooMany(await poll(line));
    strays[0]!.close();
    await vi.waitFor(async () => expect((await second()).status).toBe(101));
  });

  it("LIM-5: unjoined sessions count over all rooms; joined ones, and other addresses, do not", async () => {
    const line = from("10.0.7.1");
    await join(freshRoom(), "ada", line);
    const strangers = [await RawClient.open({ room: freshRoom(), ...line })];
    expect((await poll({ room: freshRoom(), ...line })).status).toBe(200);
    await expectTooMany(await upgrade({ room: freshRoom(), ...line }));
    await expectTooMany(await poll({ room: freshRoom(), ...line }));
    await RawClient.open({ room: freshRoom(), ...from("10.0.7.2") });
    const headers = { ...line.headers, Authorization: `Bearer ${await tokenFor("ben")}` };
    expect((await upgrade({ room: freshRoom(), headers })).status).toBe(101);
    await strangers[0]!.connect({ token: await tokenFor("cyd") });
    await RawClient.open({ room: freshRoom(), ...line });
  });

  it.each([
    ["came for a session with another WebSocket", "websocket"],
    ["were closed before they took over from long-polling", "polling"],
  ])("LIM-5: WebSockets that %s count in all rooms, also for later connections", async (_what, transport) => {
    const line = from(`10.0.9.${transport.length}`);
    const strays: WebSocket[] = [];
    const stray = async (): Promise<Response> => {
      const room = freshRoom();
      const sid =
        transport === "websocket"
          ? (await RawClient.open({ room, headers: { ...line.headers, Authorization } })).handshake.sid
          : (JSON.parse((await (await poll({ room, headers: { ...line.headers, Authorization } })).text()).slice(1))
              .sid as string);
      const response = await upgrade({ room, query: { sid }, ...line });
      const { webSocket } = response;
      if (!webSocket) return response;
      const closing = new Promise((resolve) => webSocket.addEventListener("close", resolve));
      webSocket.accept({ allowHalfOpen: true });
      if (transport === "polling") webSocket.send("rubbish");
      await closing;
      strays.push(webSocket);
      return response;
    };
    const Authorization = `Bearer ${await tokenFor("ada")}`;
    for (let i = 0; i < 4; i++) expect((await stray()).status).toBe(101);
    await expectTooMany(await stray());
    await expectTooMany(await upgrade({ room: freshRoom(), ...line }));
    for (const webSocket of strays) webSocket.close();
    await vi.waitFor(async () => expect((await upgrade({ room: freshRoom(), ...line })).status).toBe(101));
  });

  it("is logged with its code", async () => {
    const info = vi.spyOn(console, "info").mockImplementation(() => undefined);
    const line = { room: freshRoom(), fetcher: workerWith({ LOG_LEVEL: "info" }), ...from("10.0.8.1") };
    for (let i = 0; i < 3; i++) await (await poll(line)).body?.cancel();
    const [[told]] = info.mock.calls as [[string]];
    info.mockRestore();
    expect(JSON.parse(told)).toMatchObject({ event: "connection.refused", code: "TOO_MANY_CONNECTIONS", status: 429 });
  });

  it("a closed connection makes place, also after a sleep", async () => {
    const room = freshRoom();
    const sleeper = new Sleeper(room);
    await join(room, "ada", from("10.0.0.3"));
    const second = await join(room, "ben", from("10.0.0.3"));
    await sleeper.sleep();
    await expectTooMany(await upgrade({ room, ...from("10.0.0.3") }));
    second.close();
    await vi.waitFor(async () => expect((await upgrade({ room, ...from("10.0.0.3") })).status).toBe(101));
  });
});

it("MAX_CONNECTIONS_PER_USER: the third of a user is refused, from any address; LIM-7", async () => {
  const room = freshRoom();
  for (const address of ["10.0.6.1", "10.0.6.2"]) await join(room, "ada", from(address));
  const third = await RawClient.open({ room, ...from("10.0.6.3") });
  await expect(third.connect({ token: await tokenFor("ada") })).rejects.toEqual({
    message: "At most 2 connections of one user to one room",
    data: { code: "TOO_MANY_CONNECTIONS" },
  });
});

it("MAX_ROOMS_PER_USER and NEW_ROOMS_PER_USER: a CONNECT to one room too many is refused, and free again; LIM-8", async () => {
  let addresses = 0;
  const connect = async (room: string, user: string): Promise<RawClient> => {
    const client = await RawClient.open({ room, ...from(`10.0.17.${++addresses}`) });
    await client.connect({ token: await tokenFor(user) });
    await client.receives("welcome");
    return client;
  };
  const refusal = (setting: string): object => ({
    message: expect.stringContaining(setting),
    data: { code: "TOO_MANY_CONNECTIONS", retryAfterMs: expect.any(Number) },
  });
  const rooms = [freshRoom(), freshRoom(), freshRoom()] as const;
  await withSettings({ MAX_ROOMS_PER_USER: "2" }, async () => {
    const first = await connect(rooms[0], "mel");
    await connect(rooms[1], "mel");
    await expect(connect(rooms[2], "mel")).rejects.toEqual(refusal("MAX_ROOMS_PER_USER"));
    first.close();
    await vi.waitFor(() => connect(rooms[2], "mel"));
  });
  await withSettings({ NEW_ROOMS_PER_USER: "1" }, async () => {
    const own = freshRoom();
    (await connect(own, "nat")).close();
    await expect(connect(freshRoom(), "nat")).rejects.toEqual(refusal("NEW_ROOMS_PER_USER"));
    // It was begun before, though nobody has written there.
    for (const room of [own, rooms[0]]) (await connect(room, "nat")).close();
  });
});

it("NEW_ROOMS_PER_USER: the guests of one network begin rooms as one user, also by uploads; LIM-8", async () => {
  const uploadAs = async (user: string, address: string): Promise<number> => {
    const token = await tokenFor(user, { guest: true });
    const headers = { ...from(address).headers, Authorization: `Bearer ${token}`, "Content-Type": "text/plain" };
    const url = `${ORIGIN}/api/rooms/${freshRoom()}/files?name=a.txt`;
    const response = await exports.default.fetch(
      new Request(url, { method: "POST", headers: { ...headers, "Content-Length": "2" }, body: "hi" }),
    );
    await response.body?.cancel();
    return response.status;
  };
  await withSettings({ NEW_ROOMS_PER_USER: "1" }, async () => {
    expect(await uploadAs("guest-up-1", "10.0.18.1")).toBe(201);
    expect(await uploadAs("guest-up-2", "10.0.18.1")).toBe(429);
    expect(await uploadAs("guest-up-3", "10.0.18.2")).toBe(201);
  });
});

describe("CONNECT_RATE_PER_IP", () => {
  it("an address over the limit waits for the next minute; others do not", async () => {
    const fetcher = workerWith({ CONNECT_RATE_PER_IP: "3" });
    // With a token, so that nothing counts but how often.
    const Authorization = `Bearer ${await tokenFor("ada")}`;
    const status = async (address: string): Promise<number> => {
      const headers = { ...from(address).headers, Authorization };
      return (await upgrade({ room: freshRoom(), fetcher, headers })).status;
    };
    for (let i = 0; i < 3; i++) expect(await status("10.0.2.1")).toBe(101);
    const retryAfter = await expectTooMany(await upgrade({ room: freshRoom(), fetcher, ...from("10.0.2.1") }));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(await status("10.0.2.2")).toBe(101);

    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + retryAfter * 1000 });
    try {
      expect(await status("10.0.2.1")).toBe(101);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("LIM-2: before authentication", () => {
  const statusOf = async (response: Promise<Response>): Promise<number> => {
    const { status, headers, body } = await response;
    await body?.cancel();
    if (status === 429) expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
    return status;
  };

  it("guest tokens are limited per address", async () => {
    const fetcher = workerWith({ CONNECT_RATE_PER_IP: "2" });
    const guest = (address: string): Promise<number> =>
      statusOf(
        Promise.resolve(
          fetcher.fetch(new Request(`${ORIGIN}/api/guest`, { method: "POST", ...from(address), body: "{}" })),
        ),
      );
    expect([await guest("10.0.3.1"), await guest("10.0.3.1"), await guest("10.0.3.1")]).toEqual([200, 200, 429]);
    expect(await guest("10.0.3.2")).toBe(200);
  });

  it("a client that guesses sessions has to wait, on both transports; another address, and a client with a session, need not", async () => {
    const fetcher = workerWith({ CONNECT_RATE_PER_IP: "3" });
    const line = { room: freshRoom(), fetcher, ...from("10.0.4.1") };
    const { sid } = JSON.parse((await (await poll(line)).text()).slice(1)) as { sid: string };
    const post = (): Promise<number> => statusOf(poll({ ...line, sid, method: "POST", body: "6" }));
    expect(await post()).toBe(200);
    const guess = (address = "10.0.4.1"): Promise<number> =>
      statusOf(poll({ ...line, sid: "A".repeat(20), ...from(address) }));
    for (let i = 0; i < 30; i++) expect(await guess()).toBe(400);
    expect(await guess()).toBe(429);
    expect(await statusOf(upgrade({ ...line, query: { sid: "B".repeat(20) } }))).toBe(429);
    expect(await guess("10.0.4.2")).toBe(400);
    expect(await post()).toBe(200);
  });
});
