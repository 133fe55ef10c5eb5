// The way from a shard to its room: what it gathers is bounded, and ends with the shard.
import { expect, it } from "vitest";

import type { ShardReport } from "../../src/protocol/shards.ts";
import { Uplink } from "../../src/shards/uplink.ts";
import { Deadlines } from "../../src/clock/deadlines.ts";

const member = { user: "eve", name: "Eve", role: "member", sinceMs: 0, owner: "eve" } as const;

/** An uplink that has no room before `taken` is resolved. */
function uplinkTo(taken: Promise<string>): { uplink: Uplink; reports: Array<Omit<ShardReport, "shard">> } {
  const reports: Array<Omit<ShardReport, "shard">> = [];
  let ids = 0;
  const deadlines = new Deadlines();
  const uplink = new Uplink({
    report: (report) => {
      reports.push(report);
      return reports.length === 1 ? taken : Promise.resolve("room");
    },
    facts: () => ({ sockets: 1, users: 1, typing: 0 }),
    now: () => 0,
    newId: () => `${++ids}`,
    turn: (work) => work(),
    deadline: (name, run, options) => deadlines.add(name, run, options),
    problem: () => {},
  });
  return { uplink, reports };
}

it("SHD-7: names of events count as payloads do, so that a report never gets too large for a call", async () => {
  const first = Promise.withResolvers<string>();
  const { uplink, reports } = uplinkTo(first.promise);
  const ask = (event: string, socket = "s"): boolean =>
    uplink.ask(
      { socket, address: "::1", member, event },
      () => {},
      () => {},
    );
  ask("first");
  const taken = Array.from({ length: 1000 }, (_, at) => ask("x".repeat(60_000), `s${at}`));
  expect(taken.filter(Boolean).length).toBeLessThan(40);
  first.resolve("room");
  await Promise.resolve();
  await Promise.resolve();
  expect(JSON.stringify(reports[1]).length).toBeLessThan(3_000_000);
});

it("API-9: a shard that was erased reports nothing more, and what waits for the room is given up", async () => {
  const first = Promise.withResolvers<string>();
  const { uplink, reports } = uplinkTo(first.promise);
  let failed = 0;
  const request = { socket: "s", address: "::1", member, event: "presence" };
  for (let i = 0; i < 2; i++) {
    uplink.ask(
      request,
      () => {},
      () => failed++,
    );
  }
  uplink.stop();
  expect(failed).toBe(2);
  first.resolve("room");
  await Promise.resolve();
  await Promise.resolve();
  expect(reports).toHaveLength(1);
});
