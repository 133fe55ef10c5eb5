// EXT-1: the extensions change only how packets travel. Runs random programs with stock clients, with extended ones and with both, in rooms
// that sleep and rooms that do not: all clients get the same events.
import { describe, expect, it } from "vitest";

import { ChatRoom } from "../../host/chat-room.ts";
import { programs, Run, sightOf, type Step } from "../../host/program.ts";
import { fc, runs } from "../../host/properties.ts";

const KINDS: ReadonlyArray<(index: number) => boolean> = [() => false, () => true, (index) => index % 2 === 0];

async function play(steps: readonly Step[], isExtended: (index: number) => boolean, sleeps: boolean): Promise<Run> {
  const run = new Run(new ChatRoom(), isExtended);
  const { shell } = run.room;
  for (const step of steps) {
    await run.take(step);
    if (sleeps && shell.canSleep) shell.evict();
  }
  run.room.afterGrace();
  return run;
}

describe("EXT-1: a client with extensions", () => {
  it("sees the same events in the same order as a stock client in its place", async () => {
    let framesSaved = 0;
    await fc.assert(
      fc.asyncProperty(programs, fc.boolean(), async (steps, sleeps) => {
        const [stock, ...others] = await Promise.all(KINDS.map((kind) => play(steps, kind, sleeps)));
        for (const other of others) expect(other.clients.map(sightOf)).toEqual(stock!.clients.map(sightOf));
        const frames = (run: Run): number => run.clients.reduce((sum, client) => sum + client.frames.length, 0);
        framesSaved += frames(stock!) - frames(others[0]!);
      }),
      runs(700),
    );
    expect(framesSaved).toBeGreaterThan(0);
  });
});
