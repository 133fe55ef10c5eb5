// DM-5: how many conversations a user may begin, and what counts for it.
import { expect, it } from "vitest";

import { DirectOpenings, OPENINGS } from "../../src/chat/direct-openings.ts";
import type { OpenDirectAnswer } from "../../src/protocol/direct-events.ts";
import { START_MS } from "./harness.ts";

function isolate() {
  const openings = new DirectOpenings();
  const clock = { nowMs: START_MS };
  const opened: string[] = [];
  const open = (user: string, answer: OpenDirectAnswer = { ok: true, room: "dm~x", isNew: true }) =>
    openings.open(
      user,
      () => clock.nowMs,
      async () => {
        opened.push(user);
        return answer;
      },
    );
  return { clock, opened, open };
}

const tooMany = { error: { code: "RATE_LIMITED", message: expect.any(String), retryAfterMs: expect.any(Number) } };

it("20 at once, then ten a minute; others have their own, and what is refused opens nothing", async () => {
  const { clock, opened, open } = isolate();
  for (let i = 0; i < OPENINGS.burst; i++) expect(await open("ada")).toMatchObject({ ok: true });
  expect(await open("ada")).toEqual(tooMany);
  expect(opened).toHaveLength(OPENINGS.burst);
  expect(await open("ben")).toMatchObject({ ok: true });
  clock.nowMs += 5999;
  expect(await open("ada")).toEqual(tooMany);
  clock.nowMs += 1;
  expect(await open("ada")).toMatchObject({ ok: true });
  clock.nowMs += 60_000;
  for (let i = 0; i < 10; i++) expect(await open("ada")).toMatchObject({ ok: true });
  expect(await open("ada")).toEqual(tooMany);
});

it("what was open before, and what could not be opened, counts for nothing", async () => {
  const { open } = isolate();
  for (let i = 0; i < 3 * OPENINGS.burst; i++) {
    await open("ada", { ok: true, room: "dm~x", isNew: false });
    await open("ada", { error: { code: "INTERNAL", message: "no" } });
  }
  for (let i = 0; i < OPENINGS.burst; i++) expect(await open("ada")).toMatchObject({ ok: true });
  expect(await open("ada")).toEqual(tooMany);
});
