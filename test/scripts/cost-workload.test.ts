// Tests the workload of `npm run cost`: impossible values are refused, and unlikely ones noted.
import { describe, expect, it } from "vitest";

import { readArguments } from "../../scripts/cost/arguments.ts";
import { billOf } from "../../scripts/cost/bill.ts";
import { htmlOf } from "../../scripts/cost/html.ts";
import { eventsOf, WORKLOAD, type Workload } from "../../scripts/cost/model.ts";
import { peerCosts } from "../../scripts/cost/peers.ts";
import { readPrices } from "../../scripts/cost/prices.ts";
import { sensitivities } from "../../scripts/cost/sensitivity.ts";
import { textOf, type CostReport } from "../../scripts/cost/text.ts";
import { settle } from "../../scripts/cost/workload.ts";
import type { LoadReport } from "../../scripts/load/report.ts";
import { readSettings } from "../../src/settings/settings.ts";

const PRICES = readPrices();

/** Of a load test, as far as a bill looks at it. */
function runOf(changed: { connections?: object; messages?: object; asked?: object; server?: object } = {}): LoadReport {
  return {
    asked: { users: 24, rooms: 8, shimShare: 0, pollingShare: 0, payloadBytes: 100, ...changed.asked },
    connections: { users: 24, in: 24, away: 0, ...changed.connections },
    messages: { posts: 120, acks: 120, unsent: 0, refusals: 0, unanswered: 0, ...changed.messages },
    phases: { connectedAt: 1, postingFrom: 2, postingTo: 62, finishedAt: 70 },
    counted: { seconds: 70, clients: { requests: 24 }, ...(changed.server && { server: changed.server }) },
  } as unknown as LoadReport;
}

function reportOf({ workload, remarks }: ReturnType<typeof settle>): CostReport {
  const events = eventsOf(workload);
  return {
    lookedUp: PRICES.lookedUp,
    asked: { workload, bill: billOf(events, PRICES), peers: peerCosts(workload, events, PRICES) },
    remarks,
    scaled: [],
    sensitivities: sensitivities(workload, PRICES),
    missing: PRICES.missing,
  };
}

describe("shares of users", () => {
  const refusal = "--shim and --polling must not exceed 1 together: they are 0.7 and 0.7.";

  it("are of all users together: more than all of them are refused", () => {
    expect(() => readArguments(["--shim", "0.7", "--polling", "0.7"])).toThrow(refusal);
    expect(readArguments(["--shim", "0.7", "--polling", "0.3"]).workload).toEqual({
      shimShare: 0.7,
      pollingShare: 0.3,
    });
  });

  it("also where one of them is that of a load test", () => {
    const run = runOf({ asked: { pollingShare: 0.7 } });
    expect(() => settle({ shimShare: 0.7 }, run)).toThrow(refusal);
    expect(settle({ shimShare: 0.7, pollingShare: 0.3 }, run).workload).toMatchObject({ pollingShare: 0.3 });
  });

  it("are not turned up beyond all of them in the search for a double bill", () => {
    const ours = { ...WORKLOAD, shimShare: 0.9999 };
    const polling = sensitivities({ ...ours, pollingShare: 0.0001 }, PRICES).find(({ what }) =>
      /long-polls/.test(what),
    )!;
    expect(polling.totalIfTwice).toBeCloseTo(billOf(eventsOf({ ...ours, pollingShare: 0.0001 }), PRICES).total, 6);
    expect(polling.doublesAt).toBeUndefined();
  });
});

describe("more rooms than users", () => {
  it("of less than one user are empty rooms, which do nothing: a lone user gets each message once, and no other is pinged", () => {
    const few = { ...WORKLOAD, users: 10, rooms: 10 };
    expect(eventsOf({ ...few, rooms: 100 })).toEqual(eventsOf(few));
    const { posts, deliveries } = eventsOf({ ...few, rooms: 100 });
    expect(deliveries).toBe(posts);
  });

  it("are left out of the bill, with a note", () => {
    const settled = settle({ users: 10, rooms: 100 });
    expect(settled.workload).toMatchObject({ users: 10, rooms: 10 });
    const remark = "Of 100 rooms at least 90 are empty, and cost nothing: this bill is for 10.";
    expect(textOf(reportOf(settled))).toMatch(/^10 users in 10 rooms/);
    for (const bill of [textOf(reportOf(settled)), htmlOf(reportOf(settled))]) expect(bill).toContain(remark);
    expect(settle({ users: 10, rooms: 10 }).remarks).toEqual([]);
  });

  it("are left out of a load test, too", () => {
    const run = runOf({ connections: { users: 5, in: 5 }, asked: { users: 5, rooms: 8 } });
    expect(settle({}, run).workload).toMatchObject({ users: 5, rooms: 5 });
  });
});

describe("more users than one object holds", () => {
  const remarksFor = (wished: Partial<Workload>): string => settle(wished).remarks.join("\n");
  const SECRET = { JWT_SECRET: "a secret of thirty-two bytes, or so" };

  it("are noted, with the shards that they take, and whether settings allow them", () => {
    const settings = readSettings(SECRET);
    const [usual, shards] = settings.ok ? [settings.settings.maxMembers, settings.settings.maxShards] : [0, 0];
    expect(remarksFor({ users: usual, rooms: 1 })).toBe("");
    expect(remarksFor({ users: usual + 1, rooms: 1 })).toBe(
      "5,001 users to a room are more than one object holds (MAX_MEMBERS is 5,000): the room takes 1 shard besides.",
    );
    expect(remarksFor({ users: usual * (1 + shards), rooms: 1 })).toMatch(/: the room takes 64 shards besides\.$/);
    expect(remarksFor({ users: 1_000_000, rooms: 1 })).toBe(
      "1 M users to a room are more than one object holds (MAX_MEMBERS is 5,000): the room takes 199 shards besides, and MAX_SHARDS " +
        "is 64 where nothing else is set, and 1,000 at most.",
    );
    expect(remarksFor({ users: 1_000_000, rooms: 1, maxMembers: 20_000 })).toMatch(
      /the room takes 49 shards besides\.$/,
    );
    expect(remarksFor({ users: 10_000_000, rooms: 1 })).toMatch(/1,000 at most\. No server has this bill\.$/);
    expect(readSettings({ ...SECRET, MAX_SHARDS: "1000" }).ok).toBe(true);
    expect(readSettings({ ...SECRET, MAX_SHARDS: "1001" }).ok).toBe(false);
  });

  it("stand in the bill", () => {
    const report = reportOf(settle({ users: 1_000_000_000, rooms: 1 }));
    for (const bill of [textOf(report), htmlOf(report)])
      expect(bill).toContain("1 G users to a room are more than one object holds");
  });

  it("are taken from a load test of a big room", () => {
    const run: LoadReport = { ...runOf(), placed: { inRoom: 4, inShards: [10, 10] } };
    expect(settle({ rooms: 1 }, run).workload).toMatchObject({ users: 24, rooms: 1, maxMembers: 4 });
    expect(settle({}, { ...runOf(), placed: { inRoom: 24, inShards: [] } }).workload.maxMembers).toBe(5000);
  });

  it("cost calls to and from shards, their time, and a row for each time that they fall quiet", () => {
    const asked: Workload = { ...WORKLOAD, users: 10_000, rooms: 1, onlineHours: 1, connectsPerUserDay: 1 };
    const bound = eventsOf({ ...asked, maxMembers: 10_000 });
    const shared = eventsOf({ ...asked, maxMembers: 1000 });
    expect([bound.shardCalls, shared.posts]).toEqual([0, bound.posts]);
    // Nine shards take each batch; nine tenths of the members post by way of one, and come and go there.
    const down = 9 * shared.commits;
    expect(shared.shardCalls).toBeCloseTo(down + 0.9 * (shared.posts + 4 * 10_000 * 30), 0);
    expect(shared.awakeSeconds - bound.awakeSeconds).toBeGreaterThan(0.9 * 9 * 30 * 3600);
    expect(shared.rowsWritten - bound.rowsWritten).toBeLessThan(200);
    const quiet = { ...asked, messagesPerUserMinute: 0.0001 };
    const rows =
      eventsOf({ ...quiet, maxMembers: 1000 }).rowsWritten - eventsOf({ ...quiet, maxMembers: 10_000 }).rowsWritten;
    expect(rows).toBeGreaterThan(0.9 * 9 * eventsOf(quiet).commits);
  });
});

it("an incomplete load test makes a bill of the rest, with a note", () => {
  expect(settle({}, runOf()).remarks).toEqual([]);
  const { remarks } = settle({}, runOf({ connections: { in: 10 }, messages: { posts: 50, acks: 50, unsent: 70 } }));
  expect(remarks).toEqual([
    "The load test was not whole: 14 of 24 users did not get in; 70 of 120 posts that were due have no ack " +
      "(70 not sent, 0 refused, 0 unanswered). The bill is for what did happen.",
  ]);
});
