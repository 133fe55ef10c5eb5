// Numbers of custom features in the room's reports to the lobby, and in the lobby's list: OWN-8.
import { expect, it } from "vitest";

import { FACTS_MAX } from "../../../src/chat/custom/facts.ts";
import type { MakeFeatures } from "../../../src/chat/custom/custom-features.ts";
import { REPORT_WINDOW_MS_MIN } from "../../../src/features/directory/pace.ts";
import { directRoomOf } from "../../../src/protocol/direct-room.ts";
import type { RoomReport } from "../../../src/protocol/room-list.ts";
import { ReportingRoom } from "../../host/lobby-room.ts";
import { MemoryLobby } from "../../host/memory-lobby.ts";
import { Feature } from "../../host/custom-room.ts";

/** Features whose only fact is a number that a test sets. */
const counting =
  (facts: Record<string, number>): MakeFeatures =>
  (handle) => [
    new Feature(handle, (feature) => ({
      facts: () => facts,
      events: {
        count: {
          run: () => {
            facts["cups"] = (facts["cups"] ?? 0) + 1;
            feature.inside.factsChanged();
          },
        },
        drink: { run: () => void (facts["cups"] = 0) },
      },
    })),
  ];

const USAGE = { sort: "traffic", limit: 100 } as const;

it("are in each report, and a change is reported", async () => {
  const room = new ReportingRoom(undefined, { custom: counting({}) });
  const ada = await room.room.join("ada");
  await room.advance(60_000);
  expect(room.reports.every(({ facts }) => facts === undefined)).toBe(true);
  room.reports.length = 0;
  await ada.ask("count");
  await room.advance(REPORT_WINDOW_MS_MIN);
  expect(room.reports.map(({ facts }) => facts)).toEqual([{ cups: 1 }]);
  await ada.ask("drink");
  await room.post();
  await room.advance(60_000);
  expect(room.reports.at(-1)).not.toHaveProperty("facts");
});

it("are reported through sleep, and though the lobby was away", async () => {
  const room = new ReportingRoom(undefined, { custom: counting({ cups: 2 }) });
  const ada = await room.room.join("ada");
  await room.advance(60_000);
  room.reports.length = 0;
  room.failure = new Error("the lobby is away");
  await ada.ask("count");
  await room.advance(REPORT_WINDOW_MS_MIN);
  expect(room.reports).toHaveLength(1);
  room.failure = undefined;
  room.room.shell.evict();
  await room.live(120_000, 1000);
  expect(room.reports.at(-1)).toMatchObject({ facts: { cups: 3 } });
});

it("cost nothing while they stay as they are", async () => {
  const plain = new ReportingRoom();
  const own = new ReportingRoom(undefined, { custom: counting({ cups: 2 }) });
  for (const room of [plain, own]) {
    const ada = await room.room.join("ada");
    await room.live(3_600_000, 10_000);
    await ada.ask("history", {});
    await room.live(60_000, 1000);
  }
  expect(own.reports.length).toBe(plain.reports.length);
});

it(`are ${FACTS_MAX} at most, each a number from 0 on, of all features together`, async () => {
  const features: MakeFeatures = (handle) => [
    new Feature(handle, { facts: () => ({ a: 1, none: 0, b: -1, c: 2 }) }),
    new Feature(handle, { name: "second", facts: () => ({ d: Number.NaN }) }),
    new Feature(handle, { name: "third", facts: () => ({ "not a name": 1 }) }),
    new Feature(handle, { name: "fourth", facts: (async () => ({ e: 1 })) as never }),
    new Feature(handle, {
      name: "fifth",
      facts: () => Object.fromEntries(Array.from({ length: FACTS_MAX }, (_, i) => [`f${i}`, i + 1])),
    }),
  ];
  const room = new ReportingRoom(undefined, { custom: features });
  await room.room.join("ada");
  await room.settle();
  expect(Object.keys(room.reports.at(-1)!.facts!)).toEqual(["a", "f0", "f1", "f2", "f3", "f4", "f5", "f6"]);
  const logged = room.room.shell.problems.map(({ problem }) => problem);
  for (const name of ["sample", "second", "third", "fourth", "fifth"])
    expect(logged).toContain(`feature "${name}": facts failed`);
});

it("are none of a room between two people", async () => {
  const users = ["ada", "ben"] as const;
  const room = new ReportingRoom(undefined, { custom: counting({ cups: 2 }), name: directRoomOf(...users) });
  room.room.direct.begin(users);
  await room.room.join("ada");
  await room.settle();
  expect(room.reports.length).toBeGreaterThan(0);
  for (const report of room.reports) expect(report).not.toHaveProperty("facts");
});

it("are in the lobby's list, which can be asked for the rooms that have one, also after a crash", () => {
  const lobby = new MemoryLobby();
  const report = (room: string, more: Partial<RoomReport> = {}): void =>
    void lobby.report({ room, members: 1, lastSeq: 1, lastActivity: 1, believedMs: 1e9, madeAtMs: 1, ...more });
  report("quiet");
  report("busy", { facts: { openReports: 2 } });
  report("other", { facts: { polls: 1 } });
  for (const life of ["first", "second"]) {
    expect(lobby.usage({ ...USAGE, having: "openReports" }), life).toMatchObject([
      { room: "busy", facts: { openReports: 2 } },
    ]);
    expect(lobby.usage({ ...USAGE, having: "toString" }), life).toEqual([]);
    expect(
      lobby.usage(USAGE).map(({ room, facts }) => [room, facts]),
      life,
    ).toEqual([
      ["busy", { openReports: 2 }],
      ["other", { polls: 1 }],
      ["quiet", undefined],
    ]);
    expect(JSON.stringify(lobby.list())).not.toContain("facts");
    lobby.nowMs += 120_000;
    report("quiet", { madeAtMs: 2 });
    lobby.restart();
  }
  report("busy", { madeAtMs: 3 });
  expect(lobby.usage({ ...USAGE, having: "openReports" })).toEqual([]);
});
