// A signed POST to a server of the operator's: how long it waits, and that it leaves no timer, which would keep a room awake.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { signedPost } from "../../src/http/signed-post.ts";

const MS_MAX = 5000;
/** The request is signed, and on its way. */
let sent: PromiseWithResolvers<void>;

beforeEach(() => {
  sent = Promise.withResolvers();
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** @param answer of the server, or nothing while it is silent */
function post(answer?: Response | Error): Promise<Response> {
  vi.stubGlobal(
    "fetch",
    (_url: URL, { signal }: { signal: AbortSignal }) =>
      new Promise<Response>((resolve, reject) => {
        sent.resolve();
        signal.addEventListener("abort", () => reject(signal.reason as DOMException));
        if (answer instanceof Error) reject(answer);
        else if (answer) resolve(answer);
      }),
  );
  const server = { url: "https://example.com/rule", secret: "a-secret-of-them-both" };
  return signedPost(server, { content: "hello" }, { msMax: MS_MAX, userAgent: "Parley" });
}

it("is over with the answer: no timer runs on", async () => {
  expect((await post(new Response("yes"))).status).toBe(200);
  expect(vi.getTimerCount()).toBe(0);
});

it("is over if the server cannot be reached, and says nothing of its address", async () => {
  await expect(post(new Error("https://user:word@example.com refused"))).rejects.toThrow(/^not reachable$/);
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  [MS_MAX - 1, "waits"],
  [MS_MAX, `no answer within ${MS_MAX} ms`],
])("after %i ms of silence: %s", async (ms, outcome) => {
  const waiting = post().then(
    () => "answered",
    (error: Error) => error.message,
  );
  // Signing takes real time.
  await sent.promise;
  await vi.advanceTimersByTimeAsync(ms);
  expect(await Promise.race([waiting, Promise.resolve("waits")])).toBe(outcome);
});
