// Reports of abuse: the reporters, the readers, and how a report is resolved.
import { describe, expect, it } from "vitest";

import {
  OPEN_MAX,
  REPORTERS_MAX,
  RESOLVED_KEPT_MAX,
  RESOLVED_KEPT_MS,
} from "../../../src/features/reports/report-book.ts";
import { PER_HOUR_DEFAULT, PAGE_MAX, Reports, type ReportsOptions } from "../../../src/features/reports/reports.ts";
import { directRoomOf } from "../../../src/protocol/direct-room.ts";
import type { Client } from "../../host/harness.ts";
import { CustomRoom } from "../../host/custom-room.ts";
import { refusalOf, SERVICE, sleep } from "../../host/moderated-room.ts";

const OK = { ok: true };
const HOUR_MS = 3_600_000;

/** Two moderators, and two members, of whom Ben is a nuisance. */
async function cast(options?: ReportsOptions, name?: string) {
  const room = new CustomRoom((handle) => [new Reports(handle, options)], name === undefined ? {} : { name });
  const mia = await room.join({ user: "mia", role: "moderator" });
  const max = await room.join({ user: "max", role: "moderator" });
  const ada = await room.join({ user: "ada", name: "Ada" });
  const ben = await room.join({ user: "ben", name: "Ben" });
  return { room, mia, max, ada, ben };
}

const post = async (client: Client, content = "nonsense"): Promise<string> =>
  (await client.ask("chat-message", { content })).id;

const report = (client: Client, id: string, reason = "It is rude."): Promise<unknown> =>
  client.ask("report-message", { id, reason });

const list = (client: Client, query: object = {}) => client.ask("reports", query);

/** All that a client has heard, as text. */
const heardBy = (client: Client): string => JSON.stringify(client.packets);

describe("ABUSE-1: a report", () => {
  it("is seen by moderators alone: neither its author nor any other member hears of it", async () => {
    const { room, mia, max, ada, ben } = await cast();
    const id = await post(ben);
    const cleo = await room.join("cleo");
    for (const one of [mia, max, ada, ben, cleo]) one.packets.length = 0;
    expect(await report(ada, id)).toEqual(OK);
    for (const one of [mia, max]) expect(one.received("message-reported")).toEqual([{ id, seq: 1, sender: "ben" }]);
    for (const one of [ben, cleo]) expect(one.packets).toEqual([]);
    for (const one of [ada, ben, cleo]) expect(await list(one)).toEqual(refusalOf("FORBIDDEN"));
    expect(heardBy(mia), "who reported it is in the list alone").not.toContain("ada");
    expect(await list(mia)).toEqual({
      ok: true,
      open: 1,
      reports: [
        {
          id,
          seq: 1,
          sender: "ben",
          name: "Ben",
          reporters: [{ user: "ada", name: "Ada", reason: "It is rude.", at: room.shell.nowMs }],
          message: expect.objectContaining({ id, content: "nonsense" }),
        },
      ],
    });
  });

  it("is made by members, the muted among them, and not by readers", async () => {
    const { room, mia, ada, ben } = await cast();
    const id = await post(ben);
    const rio = await room.join({ user: "rio", role: "reader" });
    await mia.ask("mute", { user: "ada", seconds: 60 });
    expect([await report(rio, id), await report(ada, id)]).toEqual([refusalOf("FORBIDDEN"), OK]);
  });

  it("is about a message of another that is there", async () => {
    const { ada, ben } = await cast();
    const [own, gone] = [await post(ada), await post(ben)];
    await ben.ask("delete-message", { id: gone });
    expect(await report(ada, own)).toEqual(refusalOf("FORBIDDEN"));
    for (const id of [gone, "nothing"]) expect(await report(ada, id)).toEqual(refusalOf("NOT_FOUND"));
  });

  it.each([undefined, "", "   ", "\u200B\u2060", "x".repeat(301), 7])(
    "has a reason, and %j is none",
    async (reason) => {
      const { ada, ben } = await cast();
      const id = await post(ben);
      expect(await ada.ask("report-message", { id, reason })).toEqual(refusalOf("INVALID_PAYLOAD"));
      expect(await report(ada, id, "x".repeat(300))).toEqual(OK);
    },
  );

  it("is not for a conversation between two people, where no moderator would read it", async () => {
    const users = ["ada", "ben"] as const;
    const room = new CustomRoom((handle) => [new Reports(handle)], { name: directRoomOf(...users) });
    room.direct.begin(users);
    const [ada, ben] = [await room.join("ada"), await room.join("ben")];
    expect(await report(ada, await post(ben))).toEqual(refusalOf("FORBIDDEN"));
  });

  it("of a moderator's message is hidden from that moderator", async () => {
    const { room, mia, max, ada } = await cast();
    const id = await post(max);
    max.packets.length = 0;
    await report(ada, id);
    expect(mia.received("message-reported")).toHaveLength(1);
    expect(await list(max)).toEqual({ ok: true, reports: [], open: 0 });
    expect(await max.ask("resolve-report", { id, action: "dismiss" })).toEqual(refusalOf("NOT_FOUND"));
    await mia.ask("resolve-report", { id, action: "dismiss" });
    expect(await list(max, { state: "resolved" })).toMatchObject({ reports: [] });
    expect(heardBy(max)).not.toMatch(/message-reported|report-resolved/);
    const again = await room.join({ user: "max", role: "moderator" });
    expect(again.received("welcome")).toMatchObject([{ reports: { open: 0 } }]);
  });

  it("counts in the welcome of moderators, and of no other member", async () => {
    const { room, ada, ben } = await cast();
    await report(ada, await post(ben));
    const cleo = await room.join("cleo");
    const mel = await room.join({ user: "mel", role: "moderator" });
    expect(cleo.received("welcome")[0].reports).toEqual({ reasonLengthMax: 300 });
    expect(mel.received("welcome")[0].reports).toEqual({ reasonLengthMax: 300, open: 1 });
  });
});

describe("ABUSE-2: a user reports", () => {
  it("a message once", async () => {
    const { mia, ada, ben } = await cast();
    const id = await post(ben);
    for (const reason of ["rude", "very rude"]) expect(await report(ada, id, reason)).toEqual(OK);
    expect(mia.received("message-reported")).toHaveLength(1);
    expect((await list(mia)).reports[0].reporters).toMatchObject([{ reason: "rude" }]);
  });

  it.each([
    [undefined, PER_HOUR_DEFAULT],
    [2, 2],
  ])("with perHour %s: %s messages in an hour, also through sleep", async (perHour, most) => {
    const { room, ada, ben } = await cast(perHour === undefined ? {} : { perHour });
    const ids = [];
    for (let i = 0; i <= most; i++) ids.push(await post(ben, `nonsense ${i}`));
    for (const id of ids.slice(0, -1)) {
      expect(await report(ada, id)).toEqual(OK);
      room.shell.advance(1000);
    }
    sleep(room);
    const refused = await report(ada, ids.at(-1)!);
    expect(refused).toMatchObject(refusalOf("RATE_LIMITED"));
    const { retryAfterMs } = (refused as { error: { retryAfterMs: number } }).error;
    expect(retryAfterMs).toBe(HOUR_MS - most * 1000 - 1000);
    expect(await report(await room.join("cleo"), ids.at(-1)!), "others may").toEqual(OK);
    room.shell.advance(retryAfterMs - 1);
    expect(await report(ada, ids.at(-1)!)).toMatchObject(refusalOf("RATE_LIMITED"));
    room.shell.advance(1);
    expect(await report(ada, ids.at(-1)!)).toEqual(OK);
  });

  it.each([0, 101, 2.5])("never with perHour %s: that is a bad option", (perHour) => {
    const room = new CustomRoom((handle) => [new Reports(handle, { perHour })]);
    expect(room.logged.join()).toContain(`Reports: perHour must be 1 to 100, not ${perHour}`);
  });

  it(`and of one message the first ${REPORTERS_MAX} are kept`, async () => {
    const { room, mia, ben } = await cast();
    const id = await post(ben);
    for (let i = 0; i <= REPORTERS_MAX; i++)
      expect(await room.ask("report-message", `user-${i}`, { id, reason: "rude" })).toEqual(OK);
    expect((await list(mia)).reports[0].reporters).toHaveLength(REPORTERS_MAX);
  });
});

describe("ABUSE-3: a moderator lists", () => {
  /** A room with open reports of so many messages. */
  async function reported(count: number) {
    const parts = await cast({ perHour: 100 });
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      ids.push(await post(parts.ben, `nonsense ${i}`));
      await report(parts.ada, ids.at(-1)!);
      parts.room.shell.advance(1000);
    }
    return { ...parts, ids };
  }

  const idsOf = (page: { reports: readonly { id: string }[] }): string[] => page.reports.map(({ id }) => id);

  it("open reports, the oldest first, page by page", async () => {
    const { room, mia, ids } = await reported(5);
    sleep(room);
    const first = await list(mia, { limit: 2 });
    const second = await list(mia, { limit: 2, after: first.after });
    const third = await list(mia, { limit: 2, after: second.after });
    expect([first, second, third].map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect([first.open, third.after]).toEqual([5, undefined]);
  });

  it("resolved ones, the newest first", async () => {
    const { room, mia, ids } = await reported(3);
    for (const id of [ids[1], ids[0]]) {
      await mia.ask("resolve-report", { id, action: "dismiss" });
      room.shell.advance(1000);
    }
    const resolved = await list(mia, { state: "resolved" });
    expect(idsOf(resolved)).toEqual([ids[0], ids[1]]);
    expect(resolved).toMatchObject({ open: 1, reports: [{ resolved: { by: "mia", action: "dismiss" } }, {}] });
    expect(idsOf(await list(mia))).toEqual([ids[2]]);
  });

  it("each message as it stands now", async () => {
    const { mia, ben, ids } = await reported(2);
    await ben.ask("edit-message", { id: ids[0], content: "sorry" });
    await ben.ask("delete-message", { id: ids[1] });
    expect(await list(mia)).toMatchObject({
      reports: [{ message: { content: "sorry" } }, { sender: "ben", message: { deleted: true, content: "" } }],
    });
  });

  it("as much as fits into a page", async () => {
    const { room, mia, ben } = await cast();
    // A page holds some of them.
    const count = 12;
    for (let i = 0; i < count; i++) {
      const id = await post(ben);
      for (let user = 0; user < REPORTERS_MAX; user++)
        await room.ask("report-message", `${"u".repeat(100)}-${i}-${user}`, { id, reason: "é".repeat(300) });
      room.shell.advance(1000);
    }
    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = await list(mia, { limit: PAGE_MAX, ...(after !== undefined && { after }) });
      expect(JSON.stringify(page).length).toBeLessThan(210_000);
      ids.push(...idsOf(page));
      after = page.after;
      room.shell.advance(1000);
    } while (after !== undefined);
    expect(new Set(ids).size).toBe(count);
  });

  it.each([{ limit: 0 }, { limit: PAGE_MAX + 1 }, { state: "all" }, { after: 7 }])("never %j", async (query) => {
    const { mia } = await cast();
    expect(await list(mia, query)).toEqual(refusalOf("INVALID_PAYLOAD"));
  });
});

describe("ABUSE-4: a moderator resolves a report", () => {
  async function reported() {
    const parts = await cast();
    const id = await post(parts.ben);
    await report(parts.ada, id);
    return { ...parts, id };
  }

  it.each([
    ["dismiss", {}, []],
    ["delete", {}, [{ action: "delete-message", by: "mia", user: "ben" }]],
    [
      "mute",
      { seconds: 600, reason: "Be kind." },
      [{ action: "mute", by: "mia", user: "ben", seconds: 600, reason: "Be kind." }],
    ],
    ["mute", { seconds: 600, deleteMessage: true }, [{ action: "mute" }, { action: "delete-message" }]],
    ["ban", {}, [{ action: "ban", by: "mia", user: "ben" }]],
    [
      "ban",
      { seconds: 60, reason: "Enough.", deleteMessage: true },
      [{ action: "ban", seconds: 60, reason: "Enough." }, { action: "delete-message" }],
    ],
  ])("by %s %j, as if by the events of that name", async (action, terms, audit) => {
    const { mia, max, ben, ada, id } = await reported();
    expect(await mia.ask("resolve-report", { id, action, ...terms })).toEqual(OK);
    expect(await list(mia)).toMatchObject({ open: 0, reports: [] });
    expect((await mia.ask("audit", {})).entries).toMatchObject(audit);
    for (const one of [mia, max]) expect(one.received("report-resolved")).toEqual([{ id, seq: 1, by: "mia", action }]);
    for (const one of [ada, ben]) expect(heardBy(one)).not.toContain("report-resolved");
    if (action === "ban") expect(ben.closing).toBeDefined();
    if (action === "delete") expect(ada.received("message-deleted")).toMatchObject([{ id, by: "mia" }]);
  });

  it.each([
    ["a mute without an end", { action: "mute" }],
    ["an unknown action", { action: "forgive" }],
    ["none", {}],
  ])("not by %s", async (_what, terms) => {
    const { mia, id } = await reported();
    expect(await mia.ask("resolve-report", { id, ...terms })).toEqual(refusalOf("INVALID_PAYLOAD"));
  });

  it("only as far as the moderator's rank goes: it stays open then", async () => {
    const { room, mia, ada, id } = await reported();
    const gil = await room.join("gil");
    await mia.ask("grant", { user: "gil", role: "moderator" });
    const above = await post(mia);
    await report(ada, above);
    for (const terms of [{ action: "delete" }, { action: "mute", seconds: 60 }, { action: "ban", deleteMessage: true }])
      expect(await gil.ask("resolve-report", { id: above, ...terms })).toEqual(refusalOf("FORBIDDEN"));
    expect(await list(gil)).toMatchObject({ open: 2 });
    expect(await gil.ask("resolve-report", { id, action: "mute", seconds: 60 })).toEqual(OK);
  });

  it("once: a second moderator gets the same answer, and nothing happens", async () => {
    const { mia, max, id } = await reported();
    expect(await mia.ask("resolve-report", { id, action: "dismiss" })).toEqual(OK);
    expect(await max.ask("resolve-report", { id, action: "ban" })).toEqual(OK);
    expect(max.received("report-resolved")).toHaveLength(1);
    expect(await max.ask("moderation-state", {})).toMatchObject({ users: [] });
  });

  it("which another member opens again, and the same one does not", async () => {
    const { room, mia, ada, id } = await reported();
    await mia.ask("resolve-report", { id, action: "dismiss" });
    expect(await report(ada, id)).toEqual(OK);
    expect(await list(mia)).toMatchObject({ open: 0 });
    expect(await report(await room.join("cleo"), id, "me, too")).toEqual(OK);
    expect(await list(mia)).toMatchObject({ open: 1, reports: [{ reporters: [{ user: "ada" }, { user: "cleo" }] }] });
  });

  it(`which another member opens again, also after ${REPORTERS_MAX} others: the oldest makes room`, async () => {
    const { room, mia, ben } = await cast();
    const id = await post(ben);
    for (let at = 0; at < REPORTERS_MAX; at++) await room.ask("report-message", `user-${at}`, { id, reason: "rude" });
    await mia.ask("resolve-report", { id, action: "dismiss" });
    expect(await room.ask("report-message", "user-1", { id, reason: "rude" })).toEqual(OK);
    expect(await list(mia)).toMatchObject({ open: 0 });
    expect(await room.ask("report-message", "late", { id, reason: "rude" })).toEqual(OK);
    const { open, reports } = await list(mia);
    expect([open, reports[0].reporters.length]).toEqual([1, REPORTERS_MAX]);
    expect([reports[0].reporters[0].user, reports[0].reporters.at(-1).user]).toEqual(["user-1", "late"]);
  });

  it(`which a guest opens again, also after ${REPORTERS_MAX / 2} others`, async () => {
    const { room, mia, ben } = await cast();
    const id = await post(ben);
    for (let at = 0; at < REPORTERS_MAX / 2; at++)
      await room.ask("report-message", `user-${at}`, { id, reason: "rude" });
    await mia.ask("resolve-report", { id, action: "dismiss" });
    expect(await report(await room.join({ user: "guest-1", isGuest: true }, { address: "192.0.2.1" }), id)).toEqual(OK);
    expect(await list(mia)).toMatchObject({ open: 1 });
  });

  it("of a message that its author deleted meanwhile", async () => {
    const { mia, ben, id } = await reported();
    await ben.ask("delete-message", { id });
    expect(await mia.ask("resolve-report", { id, action: "delete" })).toEqual(OK);
    expect(await list(mia)).toMatchObject({ open: 0 });
  });

  it("as the backend, without a connection", async () => {
    const { room, id } = await reported();
    expect(await room.ask("reports", SERVICE, {})).toMatchObject({ open: 1 });
    expect(await room.ask("resolve-report", SERVICE, { id, action: "delete" })).toEqual(OK);
    expect(await room.ask("resolve-report", "ada", { id, action: "dismiss" })).toEqual(refusalOf("FORBIDDEN"));
  });
});

describe("ABUSE-5: of reports", () => {
  it("nothing is left once the room has dropped their messages", async () => {
    const { room, mia, ada, ben } = await cast();
    await report(ada, await post(ben));
    room.log.retention = { messages: 1, ageMs: Infinity };
    await post(ada, "kept");
    expect(await list(mia)).toEqual({ ok: true, reports: [], open: 0 });
    expect([...room.state.list({ prefix: "own:" })]).toEqual([]);
  });

  it(`${RESOLVED_KEPT_MAX} that are resolved are kept, for 30 days`, async () => {
    const room = new CustomRoom((handle) => [new Reports(handle)]);
    let count = 0;
    const resolveOne = async (): Promise<void> => {
      const { id } = await room.ask("chat-message", "ben", { content: "nonsense" });
      await room.ask("report-message", `user-${++count}`, { id, reason: "rude" });
      await room.ask("resolve-report", SERVICE, { id, action: "dismiss" });
      room.shell.advance(1000);
    };
    const kept = (): number => [...room.state.list({ prefix: "own:reports:" })].length;
    for (let i = 0; i <= RESOLVED_KEPT_MAX; i++) await resolveOne();
    expect(kept()).toBe(RESOLVED_KEPT_MAX);
    room.shell.advance(RESOLVED_KEPT_MS);
    await resolveOne();
    expect(kept()).toBe(1);
  });

  it("a row is written for each, and none where there are none", async () => {
    const { room, mia, ada, ben } = await cast();
    const id = await post(ben);
    const before = room.state.writes;
    await list(mia);
    await room.join("cleo");
    expect(room.state.writes).toBe(before);
    await report(ada, id);
    expect(room.state.writes).toBe(before + 1);
    await mia.ask("resolve-report", { id, action: "dismiss" });
    expect(room.state.writes).toBe(before + 2);
  });

  it("one that cannot be stored is answered INTERNAL, and no moderator hears of it", async () => {
    const { room, mia, ada, ben } = await cast();
    const id = await post(ben);
    room.state.failure = new Error("disk full");
    expect(await report(ada, id)).toEqual(refusalOf("INTERNAL"));
    room.state.failure = undefined;
    expect(mia.received("message-reported")).toEqual([]);
    expect(await list(mia)).toMatchObject({ open: 0 });
    expect(await report(ada, id)).toEqual(OK);
  });
});

describe("CHAT-10: reports of strangers", () => {
  const guestOf = (room: CustomRoom, user: string, address: string): Promise<Client> =>
    room.join({ user, isGuest: true }, { address });

  it("guests of one network report as many messages as one user, also after sleep; a moderator sees no address", async () => {
    const { room, mia, ada, ben } = await cast();
    const ids: string[] = [];
    for (let at = 0; at < 30; at++) ids.push(await post(ben, `nonsense ${at}`));
    const answers: unknown[] = [];
    for (let at = 0; at < 24; at++) {
      const guest = await guestOf(room, `guest-${at}`, `2001:db8:0:1::${at}`);
      answers.push(await report(guest, ids[at]!));
      guest.leave();
      if (at % 8 === 0) sleep(room);
    }
    expect(answers.filter((answer) => (answer as { ok?: true }).ok)).toHaveLength(PER_HOUR_DEFAULT);
    expect(answers.at(-1)).toMatchObject(refusalOf("RATE_LIMITED"));
    expect(await report(await guestOf(room, "elsewhere", "2001:db8:0:2::1"), ids[24]!)).toEqual(OK);
    expect(await report(ada, ids[25]!)).toEqual(OK);
    const page = await list(mia, { limit: PAGE_MAX });
    expect(page.reports).toHaveLength(PER_HOUR_DEFAULT + 2);
    expect(page.reports[0].reporters).toEqual([
      { user: "guest-0", name: "guest-0", reason: expect.any(String), at: expect.any(Number) },
    ]);
    expect(JSON.stringify([...room.state.list({ prefix: "" })])).not.toContain("2001");
  });

  it(`ABUSE-2: leave half of the open reports, and of the reporters of a message, to accounts, which report until ${OPEN_MAX} are open`, async () => {
    const { room, mia, ada, ben } = await cast({ perHour: 100 });
    const ids: string[] = [];
    for (let at = 0; at < OPEN_MAX / 2 + 2; at++) {
      ids.push(await post(ben, `nonsense ${at}`));
      room.shell.advance(100);
    }
    for (const [at, id] of ids.entries()) {
      const guest = await guestOf(room, `guest-${at}`, `192.0.${at >> 8}.${at & 255}`);
      expect(await report(guest, id)).toMatchObject(at < OPEN_MAX / 2 ? OK : refusalOf("RATE_LIMITED"));
      guest.leave();
      room.shell.advance(100);
    }
    expect(await report(ada, ids.at(-1)!)).toEqual(OK);
    expect(await report(ada, ids.at(-2)!), "has one").toMatchObject(refusalOf("RATE_LIMITED"));
    expect(await room.ask("report-message", "cleo", { id: ids.at(-2), reason: "rude" })).toEqual(OK);
    for (let at = 0; at < REPORTERS_MAX; at++) {
      const guest = await guestOf(room, `further-${at}`, `198.51.100.${at}`);
      expect(await report(guest, ids[0]!)).toEqual(OK);
      guest.leave();
    }
    expect(await room.ask("report-message", "dora", { id: ids[0], reason: "spam" })).toEqual(OK);
    const { reporters } = (await list(mia)).reports[0];
    expect(reporters).toHaveLength(REPORTERS_MAX / 2 + 1);
    expect(reporters.at(-1)).toMatchObject({ user: "dora", reason: "spam" });
    const reportOne = async (user: string): Promise<unknown> => {
      room.shell.advance(100);
      return room.ask("report-message", user, { id: await post(ben, "more nonsense"), reason: "rude" });
    };
    for (let open = ids.length; open < OPEN_MAX; open++) expect(await reportOne(`user-${open}`)).toEqual(OK);
    expect(await reportOne("late")).toEqual(refusalOf("RATE_LIMITED"));
    await mia.ask("resolve-report", { id: ids[0], action: "dismiss" });
    expect(await reportOne("late")).toEqual(OK);
  });
});

describe("ABUSE-4: dismiss-reporter", () => {
  const dismiss = (client: Client, reporter: string): Promise<unknown> =>
    client.ask("resolve-report", { action: "dismiss-reporter", reporter });

  it("dismisses all reports of a user at once, but for those that others made, too", async () => {
    const { room, mia, max, ada, ben } = await cast();
    const ids: string[] = [];
    for (let at = 0; at < 4; at++) ids.push(await post(ben, `nonsense ${at}`));
    for (const id of ids) await report(ada, id);
    await report(await room.join("cleo"), ids[2]!);
    expect(await dismiss(mia, "ada")).toEqual({ ok: true, dismissed: 3 });
    expect((await list(mia)).reports.map(({ id }: { id: string }) => id)).toEqual([ids[2]]);
    const { reports } = await list(mia, { state: "resolved" });
    expect(reports).toHaveLength(3);
    for (const { resolved } of reports) expect(resolved).toMatchObject({ by: "mia", action: "dismiss" });
    expect(max.received<{ id: string }>("report-resolved").map(({ id }) => id)).toEqual([ids[0], ids[1], ids[3]]);
    expect(await dismiss(mia, "ada")).toEqual(refusalOf("NOT_FOUND"));
    expect(await dismiss(ada, "cleo")).toEqual(refusalOf("FORBIDDEN"));
  });

  it("of one guest dismisses those of all guests of the network", async () => {
    const { room, mia, ben } = await cast();
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push(await post(ben, `nonsense ${at}`));
    for (const [at, id] of ids.entries()) {
      const address = at < 4 ? "192.0.2.9" : "192.0.2.10";
      await report(await room.join({ user: `guest-${at}`, isGuest: true }, { address }), id);
    }
    expect(await dismiss(mia, "guest-1")).toEqual({ ok: true, dismissed: 4 });
    expect((await list(mia)).reports.map(({ id }: { id: string }) => id)).toEqual([ids[4]]);
  });

  it("leaves out reports about the moderator", async () => {
    const { mia, max, ada, ben } = await cast();
    await report(ada, await post(mia, "mine"));
    await report(ada, await post(ben, "nonsense"));
    expect(await dismiss(mia, "ada")).toEqual({ ok: true, dismissed: 1 });
    expect(await list(max)).toMatchObject({ open: 1 });
  });
});
