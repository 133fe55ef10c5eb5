// Slow uploads and bodies: limits of number and time. FILE-7
import { afterEach, describe, expect, it, vi } from "vitest";

import { API_BODIES_MAX, UPLOADS_MAX } from "../../src/worker/deployment.ts";
import { refusal } from "../durable/api-caller.ts";
import { png, upload, type UploadOptions } from "../durable/files.ts";
import { ORIGIN } from "../durable/raw-client.ts";
import { freshRoom, tokenFor, useSettings, workerWith } from "../durable/rooms.ts";

useSettings({ FILE_BYTES_MAX: "1000000" });

afterEach(() => void vi.useRealTimers());

const SIZE = 163_840;

/** The beginning of a picture, and then nothing until the test ends it or breaks it off. */
function stalled() {
  let all!: ReadableStreamDefaultController<Uint8Array>;
  const read = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: () => read.resolve(),
    start: (controller) => {
      all = controller;
      controller.enqueue(png(1, 1));
    },
  });
  return { body, read: read.promise, finish: () => (all.enqueue(new Uint8Array(SIZE - 64)), all.close()) };
}

const headers = { "Content-Length": String(SIZE) };
const begin = (room: string, options: UploadOptions = {}) => {
  const { body, ...more } = stalled();
  return { answer: upload(room, body, { headers, ...options }), ...more };
};

it("refuses a user without the right to upload before it reads the body", async () => {
  const as = { user: "rita", role: "reader" };
  expect(await begin(freshRoom(), { as }).answer).toMatchObject({ status: 403, body: refusal("FORBIDDEN") });
});

it("a user has UPLOADS_MAX under way, in all rooms; others are not limited by that, and an upload that ends makes place", async () => {
  const fetcher = workerWith({});
  const under = Array.from({ length: UPLOADS_MAX }, () => begin(freshRoom(), { fetcher }));
  const whole = (user: string) => upload(freshRoom(), png(1, 1), { fetcher, as: { user } });
  await vi.waitFor(async () =>
    expect(await whole("ada")).toMatchObject({ status: 429, body: refusal("RATE_LIMITED") }),
  );
  const refused = await whole("ada");
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect(await whole("ben")).toMatchObject({ status: 201 });
  under[0]!.finish();
  expect(await under[0]!.answer).toMatchObject({ status: 201 });
  expect(await whole("ada")).toMatchObject({ status: 201 });
  for (const { finish } of under.slice(1)) finish();
  for (const { answer } of under) expect((await answer).status).toBe(201);
});

it("the guests of one address have UPLOADS_MAX together; those of others have their own", async () => {
  const fetcher = workerWith({ GUEST_ACCESS: "on" });
  const guestAt = async (address: string) => {
    const headers = { "CF-Connecting-IP": address };
    const answer = await fetcher.fetch(new Request(`${ORIGIN}/api/guest`, { method: "POST", headers }));
    const { token } = (await answer.json()) as { token: string };
    return { as: null, fetcher, headers: { ...headers, Authorization: `Bearer ${token}` } };
  };
  const begun = async () => {
    const guest = await guestAt("192.0.2.1");
    return begin(freshRoom(), { ...guest, headers: { ...headers, ...guest.headers } });
  };
  const under = await Promise.all(Array.from({ length: UPLOADS_MAX }, begun));
  const whole = async (address: string) => upload(freshRoom(), png(1, 1), await guestAt(address));
  await vi.waitFor(async () => expect(await whole("192.0.2.1")).toMatchObject({ status: 429 }));
  expect(await whole("192.0.2.2")).toMatchObject({ status: 201 });
  for (const { finish } of under) finish();
  for (const { answer } of under) expect((await answer).status).toBe(201);
});

describe("the time limit of a body", () => {
  it.each([
    ["an image, of which the beginning is looked at", "image/png"],
    ["what goes to the storage as it comes", "text/plain"],
  ])("is over after 30 s and 1 s per 16 KiB: 408, for %s", async (_what, type) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const fetcher = workerWith({});
    const { answer, read } = begin(freshRoom(), { type, fetcher });
    let status = 0;
    void answer.then((late) => (status = late.status));
    await read;
    await vi.advanceTimersByTimeAsync(30_000 + (1000 * SIZE) / 16_384 - 1);
    expect(status).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await answer).toMatchObject({ status: 408, body: refusal("TIMED_OUT") });
  });
});

it("API-11: a user has API_BODIES_MAX JSON bodies under way; others are not limited by that", async () => {
  const fetcher = workerWith({ API_BURST: "1000" });
  const post = async (user: string, body: BodyInit): Promise<Response> => {
    const Authorization = `Bearer ${await tokenFor(user, { role: "service" })}`;
    const init = { method: "POST", body, headers: { Authorization, "Content-Type": "application/json" } };
    return fetcher.fetch(new Request(`${ORIGIN}/api/rooms/${freshRoom()}/messages`, init));
  };
  const endings: Array<() => void> = [];
  const endless = () => new ReadableStream({ start: (all) => void endings.push(() => all.close()) });
  const under = Array.from({ length: API_BODIES_MAX }, () => post("ada", endless()));
  await vi.waitFor(async () => expect((await post("ada", '{"content":"x"}')).status).toBe(429));
  expect((await post("ben", '{"content":"x"}')).status).toBe(201);
  for (const end of endings) end();
  for (const answer of under) expect((await answer).status).toBe(400);
  expect((await post("ada", '{"content":"x"}')).status).toBe(201);
});
