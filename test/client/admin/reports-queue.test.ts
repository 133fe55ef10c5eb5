// The operator page's queue of reports: which rooms it asks, and when it asks them again.
import { describe, expect, it } from "vitest";

import type { AdminApi, Problem, Result } from "../../../client/admin/state/admin-api.ts";
import type { ListedRoom } from "../../../client/admin/state/answers.ts";
import { ReportsQueue } from "../../../client/admin/state/reports-queue.ts";
import type { Report, ReportsPage } from "../../../src/features/reports/report-events.ts";

const reportOf = (id: string): Report => ({ id, seq: 1, sender: "ben", name: "Ben", reporters: [] });
const roomWith = (room: string, openReports: number): ListedRoom =>
  ({ room, facts: { openReports } }) as unknown as ListedRoom;
const good = <Value>(value: Value): Result<Value> => ({ ok: true, value });
const bad = (code: string): Result<never> => ({ ok: false, problem: { code, message: `because ${code}` } });

/** A queue over rooms and answers that the test sets. */
function queueOver(rooms: readonly ListedRoom[], answers: Record<string, (after?: string) => Result<ReportsPage>>) {
  const calls: string[] = [];
  const world = { rooms, answers, failures: [] as Problem[] };
  const api = {
    reported: async () => good({ rooms: world.rooms }),
    reports: async (room: string, after?: string) => {
      calls.push(after === undefined ? room : `${room} after ${after}`);
      return world.answers[room]!(after);
    },
  } as unknown as AdminApi;
  const state: { api: AdminApi | undefined } = { api };
  const queue = new ReportsQueue({
    api: () => state.api,
    failed: (problem, show) => {
      world.failures.push(problem);
      show(problem);
    },
    changed: () => {},
  });
  return { queue, calls, world, state };
}

const page =
  (open: number, ...ids: string[]) =>
  () =>
    good({ reports: ids.map(reportOf), open });

describe("the queue", () => {
  it("loads the rooms that have open reports, and asks again only those of which the list says something new", async () => {
    const { queue, calls, world } = queueOver([roomWith("a", 2), roomWith("b", 1)], {
      a: page(2, "a1", "a2"),
      b: page(1, "b1"),
    });
    await queue.refresh();
    expect(queue.shown.map(({ room }) => queue.of(room)?.reports.map(({ id }) => id))).toEqual([["a1", "a2"], ["b1"]]);
    await queue.refresh();
    expect(calls).toEqual(["a", "b"]);
    world.rooms = [roomWith("a", 1), roomWith("b", 1)];
    await queue.refresh();
    expect(calls).toEqual(["a", "b", "a"]);
    await queue.reload();
    expect(calls.slice(3), "Reload asks all").toEqual(["a", "b"]);
  });

  it("asks ten rooms at once, and more at wish", async () => {
    const rooms = Array.from({ length: 13 }, (_, at) => roomWith(`r${at}`, 1));
    const answers = Object.fromEntries(rooms.map(({ room }) => [room, page(1, room)]));
    const { queue, calls } = queueOver(rooms, answers);
    await queue.refresh();
    expect([calls.length, queue.shown.length, queue.waiting]).toEqual([10, 10, 3]);
    await queue.more();
    expect([calls.length, queue.shown.length, queue.waiting]).toEqual([13, 13, 0]);
  });

  it("leaves out a room whose reports are all resolved before its lobby knows", async () => {
    const { queue, world } = queueOver([roomWith("a", 1)], { a: page(1, "a1") });
    await queue.refresh();
    world.answers = { a: page(0) };
    await queue.load("a");
    expect(queue.shown).toEqual([]);
    expect(queue.of("a")).toMatchObject({ open: 0 });
  });

  it("loads further pages of a room", async () => {
    const { queue } = queueOver([], {
      a: (after) =>
        good(
          after === undefined
            ? { reports: [reportOf("a1")], open: 2, after: "x" }
            : { reports: [reportOf("a2")], open: 2 },
        ),
    });
    await queue.load("a");
    expect(queue.of("a")).toMatchObject({ after: "x" });
    await queue.load("a", "x");
    expect(queue.of("a")).toEqual({ reports: [reportOf("a1"), reportOf("a2")], open: 2, after: undefined });
  });

  it("shows a problem beside what it has, and tries again with the next refresh", async () => {
    const { queue, calls, world } = queueOver([roomWith("a", 1)], { a: () => bad("INTERNAL") });
    await queue.refresh();
    expect([queue.of("a"), queue.shown.length]).toMatchObject([{ reports: [], problem: { code: "INTERNAL" } }, 1]);
    world.answers = { a: page(1, "a1") };
    await queue.refresh();
    expect(queue.of("a")?.problem).toBeUndefined();
    expect(calls).toEqual(["a", "a"]);
  });

  it("takes no notice of a room without the feature", async () => {
    const { queue, world } = queueOver([], { a: () => bad("UNKNOWN_EVENT") });
    await queue.load("a");
    expect([queue.of("a"), world.failures]).toEqual([undefined, []]);
  });

  it("drops answers that come out of order, or after the operator signed out", async () => {
    const waiting: Array<(answer: Result<ReportsPage>) => void> = [];
    const { queue, state } = queueOver([], {});
    state.api = {
      reports: () => new Promise<Result<ReportsPage>>((resolve) => waiting.push(resolve)),
    } as unknown as AdminApi;
    const loading = [queue.load("a"), queue.load("a")];
    waiting[1]!(page(1, "new")());
    waiting[0]!(page(2, "old", "older")());
    await Promise.all(loading);
    expect(queue.of("a")?.reports).toEqual([reportOf("new")]);
    const last = queue.load("a");
    queue.clear();
    state.api = undefined;
    waiting[2]!(page(1, "late")());
    await last;
    expect(queue.of("a")).toBeUndefined();
  });
});
