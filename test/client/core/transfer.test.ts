// Tests the transfer of files: by XMLHttpRequest in browsers, for its progress events, by fetch elsewhere.
import { afterEach, expect, it, vi } from "vitest";

import type { UploadProgress } from "../../../client/core/api.ts";
import { transfer, type Transfer } from "../../../client/core/transfer.ts";

const BODY = new Blob(["abc"], { type: "image/png" });

/** A browser's, as far as uploads need it; the test is its network. */
class FakeRequest extends EventTarget {
  static readonly made: FakeRequest[] = [];
  readonly upload = new EventTarget();
  readonly sent: unknown[] = [];
  readonly headers = new Map<string, string>();
  responseType = "";
  status = 0;
  response: unknown;
  isAborted = false;

  constructor() {
    super();
    FakeRequest.made.push(this);
  }

  open(...args: unknown[]): void {
    this.sent.push(...args);
  }

  setRequestHeader(name: string, value: string): void {
    this.headers.set(name, value);
  }

  send(body: unknown): void {
    this.sent.push(body);
  }

  abort(): void {
    this.isAborted = true;
    this.end("abort");
  }

  end(event: string, facts: object = {}): void {
    Object.assign(this, facts);
    this.dispatchEvent(new Event(event));
    this.dispatchEvent(new Event("loadend"));
  }
}

afterEach(() => {
  vi.unstubAllGlobals();
  FakeRequest.made.length = 0;
});

const asked = (more: Partial<Transfer> = {}): Transfer => ({
  method: "POST",
  url: "https://chat.test/api/rooms/lobby/files?name=x",
  token: "token-1",
  body: BODY,
  signal: new AbortController().signal,
  ...more,
});

function upload(more: Partial<Transfer> = {}) {
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
  const progress: UploadProgress[] = [];
  const done = transfer(asked({ onProgress: (told) => progress.push(told), ...more }));
  return { done, progress, request: FakeRequest.made[0]! };
}

it("reports the progress of an upload in a browser", async () => {
  const { done, progress, request } = upload();
  expect(request.sent).toEqual(["POST", asked().url, BODY]);
  expect(Object.fromEntries(request.headers)).toEqual({ Authorization: "Bearer token-1", "Content-Type": "image/png" });
  for (const loaded of [1, 3]) request.upload.dispatchEvent(Object.assign(new Event("progress"), { loaded, total: 3 }));
  const response = new Blob(["{}"]);
  request.end("load", { status: 201, response });
  expect(await done).toEqual({ status: 201, body: response });
  expect(progress).toEqual([
    { loaded: 1, total: 3 },
    { loaded: 3, total: 3 },
  ]);
});

it("in a browser ends when it is called off, and fails where the network does", async () => {
  const controller = new AbortController();
  const { done, request } = upload({ signal: controller.signal });
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(done).rejects.toBe(reason);
  expect(request.isAborted).toBe(true);
  FakeRequest.made.length = 0;
  const other = upload();
  other.request.end("error");
  await expect(other.done).rejects.toThrow("network");
});

it("is one fetch elsewhere, and reports its end", async () => {
  const fetched = vi.fn(async () => new Response("{}", { status: 201 }));
  vi.stubGlobal("fetch", fetched);
  const progress: UploadProgress[] = [];
  const { status } = await transfer(asked({ onProgress: (told) => progress.push(told) }));
  expect([status, progress]).toEqual([201, [{ loaded: 3, total: 3 }]]);
  expect(fetched).toHaveBeenCalledWith(asked().url, expect.objectContaining({ method: "POST", body: BODY }));
  await transfer({ method: "GET", url: "https://chat.test/files/k", token: "t", signal: asked().signal });
  expect(fetched).toHaveBeenLastCalledWith("https://chat.test/files/k", {
    method: "GET",
    headers: { Authorization: "Bearer t" },
    signal: expect.any(AbortSignal),
  });
});

it("never begins once it was called off", async () => {
  const fetched = vi.fn();
  vi.stubGlobal("fetch", fetched);
  await expect(transfer(asked({ signal: AbortSignal.abort(new Error("no")) }))).rejects.toThrow("no");
  expect(fetched).not.toHaveBeenCalled();
});
