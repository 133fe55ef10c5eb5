// How many may come: per address and minute, per address and room, per room.
import { describe, expect, it, vi } from "vitest";

import { RawClient, upgrade } from "./raw-client.ts";
import { freshRoom, join, Sleeper, tokenFor, useSettings, workerWith } from "./rooms.ts";

useSettings({ MAX_CONNECTIONS_PER_IP: "2", MAX_MEMBERS: "3" });

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

  it("who went makes place, also after a sleep", async () => {
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

it("MAX_MEMBERS: the next one is told that the room is full, and may come when somebody went", async () => {
  const room = freshRoom();
  const [first] = await Promise.all(["ada", "ben", "cyd"].map((user, i) => join(room, user, from(`10.0.1.${i}`))));
  const connect = async (): Promise<unknown> => {
    const late = await RawClient.open({ room, ...from("10.0.1.9") });
    try {
      return await late.connect({ token: await tokenFor("dan") });
    } finally {
      late.close();
    }
  };
  await expect(connect()).rejects.toEqual({ message: expect.any(String), data: { code: "ROOM_FULL" } });
  first!.close();
  await vi.waitFor(connect);
});

describe("CONNECT_RATE_PER_IP", () => {
  it("beyond it an address waits for the next minute; others do not", async () => {
    const fetcher = workerWith({ CONNECT_RATE_PER_IP: "3" });
    const status = async (address: string): Promise<number> =>
      (await upgrade({ room: freshRoom(), fetcher, ...from(address) })).status;
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
