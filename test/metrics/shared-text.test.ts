// The text of open metrics that readers share: time is handed in. MET-5
import { describe, expect, it } from "vitest";

import { SharedText } from "../../src/worker/metrics/shared-text.ts";

const EVERY_MS = 5000;

/** A text whose scrapes end when the test wants it. */
function sharing() {
  const scrapes: Array<PromiseWithResolvers<string>> = [];
  const text = new SharedText(EVERY_MS);
  const read = (nowMs: number): Promise<string> =>
    text.get(nowMs, () => {
      const scrape = Promise.withResolvers<string>();
      scrapes.push(scrape);
      return scrape.promise;
    });
  return { scrapes, read };
}

describe("open metrics: MET-5", () => {
  it("are scraped once for readers who come while the first scrape is under way", async () => {
    const { scrapes, read } = sharing();
    const reads = [read(0), read(1), read(2)];
    expect(scrapes).toHaveLength(1);
    scrapes[0]!.resolve("counts");
    expect(await Promise.all(reads)).toEqual(["counts", "counts", "counts"]);
  });

  it("that failed are scraped again after 5 s, and readers get the failure until then", async () => {
    const { scrapes, read } = sharing();
    const first = read(0);
    scrapes[0]!.reject(new Error("overloaded"));
    await expect(first).rejects.toThrow("overloaded");
    const second = read(EVERY_MS - 1);
    expect(scrapes).toHaveLength(1);
    await expect(second).rejects.toThrow("overloaded");
    const later = read(EVERY_MS);
    expect(scrapes).toHaveLength(2);
    scrapes[1]!.resolve("counts");
    expect(await later).toBe("counts");
  });

  it("are scraped again at once where the clock was set back", () => {
    const { scrapes, read } = sharing();
    void read(EVERY_MS);
    void read(EVERY_MS - 1);
    expect(scrapes).toHaveLength(2);
  });
});
