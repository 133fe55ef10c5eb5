// Rooms that mirror each other by direct calls (RELAY=direct): rooms that fail or abort, the delay, and what a link needs.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { expositionOf } from "../host/exposition.ts";
import { callApi } from "./api-caller.ts";
import { ORIGIN } from "./raw-client.ts";
import { whenTaking } from "./relay-taking.ts";
import { freshRoom, join, useSettings, workerWith } from "./rooms.ts";

useSettings({ RELAY: "direct", MESSAGE_RATE: "10000", MESSAGE_BURST: "10000", API_RATE: "10000", API_BURST: "10000" });

const SLOW = { interval: 50 };

const post = (room: string, content: string) => callApi("POST", `/api/rooms/${room}/messages`, { body: { content } });
const copiesIn = async (room: string): Promise<string[]> =>
  ((await callApi("GET", `/api/rooms/${room}/messages?limit=200`)).body.messages as Message[]).map(
    ({ content }) => content,
  );

async function linked(): Promise<readonly [string, string]> {
  const pair = [freshRoom(), freshRoom()] as const;
  const { status } = await callApi("POST", `/api/rooms/${pair[0]}/links`, { body: { to: pair[1] } });
  expect(status).toBe(200);
  return pair;
}

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

it("MET-2: the delay reaches /metrics", async () => {
  const lags = async (): Promise<number> => {
    const response = await workerWith({}).fetch(new Request(new URL("/metrics", ORIGIN)));
    return expositionOf(await response.text()).valueOf("parley_relay_lag_seconds_count") ?? 0;
  };
  const [from, to] = await linked();
  const ada = await join(from, "ada");
  const before = await lags();
  await post(from, "1");
  await vi.waitFor(async () => expect(await copiesIn(to)).toEqual(["1"]), SLOW);
  // It goes along with the room's next call.
  ada.close();
  // So may those of the tests before.
  await vi.waitFor(async () => expect(await lags()).toBeGreaterThan(before), SLOW);
});

it("RLY-2, RLY-3: a room that fails, or aborts after taking a batch, is called again", async () => {
  const [from, to] = await linked();
  let asked = 0;
  whenTaking(async (_batches, proceed, state) => {
    asked++;
    if (asked === 1) throw new Error("not now");
    const outcomes = await proceed();
    if (asked === 2) state.abort("in mid-batch");
    return outcomes;
  });
  await post(from, "1");
  await post(from, "2");
  await vi.waitFor(() => expect(asked).toBeGreaterThanOrEqual(3), SLOW);
  await vi.waitFor(async () => expect(await copiesIn(to)).toEqual(["1", "2"]), SLOW);
  const { links } = (await callApi("GET", `/api/rooms/${from}/links`)).body;
  expect(links).toMatchObject([{ to, seq: 2, failures: 0 }]);
});

it("RLY-8: needs no queue, but a link needs RELAY to be on", async () => {
  const [room, to] = [freshRoom(), freshRoom()];
  const ask = (settings: Readonly<Record<string, unknown>>) =>
    callApi("POST", `/api/rooms/${room}/links`, { body: { to }, fetcher: workerWith(settings) });
  expect(await ask({ RELAY: "direct", RELAY_QUEUE: undefined, DEAD_LETTERS: undefined })).toMatchObject({
    status: 200,
  });
  const off = await ask({ RELAY: "off" });
  expect(off).toMatchObject({
    status: 403,
    body: { error: { code: "FORBIDDEN", message: expect.stringContaining("RELAY is off") } },
  });
});
