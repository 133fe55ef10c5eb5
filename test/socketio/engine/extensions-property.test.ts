// EXT-1, BUN-1: the extensions and bundles change only how packets travel. Runs random programs with stock clients, with extended ones, with
// ones that bundle and with all of them, in rooms that sleep and rooms that do not: all clients get the same events.
import { describe, expect, it } from "vitest";

import { ChatRoom } from "../../host/chat-room.ts";
import { programs, Run, sightOf, type KindOf, type Step } from "../../host/program.ts";
import { fc, runs } from "../../host/properties.ts";

const KINDS: readonly KindOf[] = [
  () => "plain",
  () => "extended",
  () => "bundling",
  (index) => (["extended", "bundling", "plain"] as const)[index % 3]!,
];

async function play(steps: readonly Step[], kindOf: KindOf, sleeps: boolean): Promise<Run> {
  const run = new Run(new ChatRoom(), kindOf);
  const { shell } = run.room;
  for (const step of steps) {
    await run.take(step);
    if (sleeps && shell.canSleep) shell.evict();
  }
  run.room.afterGrace();
  return run;
}

describe("EXT-1, BUN-1: a client with extensions, or one that bundles", () => {
  it("sees the same events in the same order as a stock client in its place", async () => {
    const framesSaved = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(programs, fc.boolean(), async (steps, sleeps) => {
        const [stock, ...others] = await Promise.all(KINDS.map((kind) => play(steps, kind, sleeps)));
        for (const other of others) expect(other.clients.map(sightOf)).toEqual(stock!.clients.map(sightOf));
        const frames = (run: Run): number => run.clients.reduce((sum, client) => sum + client.frames.length, 0);
        for (const [at, other] of others.entries()) framesSaved[at]! += frames(stock!) - frames(other);
      }),
      runs(600),
    );
    expect(Math.min(...framesSaved)).toBeGreaterThan(0);
  });
});
