// Tests of reading bodies: the Worker stops at a limit of bytes, and after some time.
import { describe, expect, it } from "vitest";

import { readText } from "../../src/http/body.ts";
import { request, textOf } from "../durable/poller.ts";

/** One byte, and then silence. */
const endless = (): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([52])) });

const posted = (body: BodyInit | null): Request => new Request("http://parley.test/", { method: "POST", body });

describe("a body", () => {
  it("is read to its end", async () => {
    expect(await readText(posted("grüezi"), 100)).toBe("grüezi");
    expect(await readText(posted(null), 100)).toBe("");
  });

  it("is not taken beyond its limit", async () => {
    expect(await readText(posted("x".repeat(100)), 100)).toHaveLength(100);
    expect(await readText(posted("x".repeat(101)), 100)).toBeUndefined();
    expect(
      await readText(posted(new ReadableStream({ pull: (rest) => rest.enqueue(new Uint8Array(65_536)) })), 100),
    ).toBeUndefined();
  });

  it("that never ends is given up", async () => {
    await expect(readText(posted(endless()), 100, 20)).rejects.toMatchObject({ isLate: true });
  });

  it("that breaks off has no text", async () => {
    const broken = new ReadableStream({ start: (rest) => rest.error(new Error("gone")) });
    await expect(readText(posted(broken), 100)).rejects.toMatchObject({ isLate: false });
  });
});

it("EIO-9: refuses a post that never ends, of an unknown session", async () => {
  const answer = await textOf(request({ room: "slow", sid: "a".repeat(20), method: "POST", body: endless() }));
  expect(answer).toMatchObject({ status: 400 });
});
