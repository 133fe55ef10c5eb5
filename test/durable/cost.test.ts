// The table in docs/cost.md, line by line: an action of users, and the rows that the room writes for it.
import { expect, it } from "vitest";

import { FIRST_MESSAGE_ROWS, FIRST_VISIT_ROWS } from "../../scripts/measure/bill.ts";
import { ANNOUNCE_VERSION, type AnnouncedHere } from "../../src/protocol/announcement.ts";
import doc from "../../docs/cost.md?raw";
import type { RawClient } from "./raw-client.ts";
import { alarmOf, freshRoom, isAtRest, join, joinModerator, LONG_WINDOW, stubOf, withSettings } from "./rooms.ts";
import { rowsWritten, type Counted } from "./rows-written.ts";

interface Line extends Counted {
  readonly what: string;
}

/** The lines of the first table whose columns are numbers. */
const LINES: readonly Line[] = [...doc.matchAll(/^\| ([^|]+?) +\| (\d+) +\| (\d+) +\|$/gm)].map(
  ([, what, rows, alarms]) => ({
    what: what!,
    rows: Number(rows),
    alarms: Number(alarms),
  }),
);

interface People {
  readonly room: string;
  readonly ada: RawClient;
  readonly mia: RawClient;
  /** Posts as ada. @returns the id */
  readonly post: (content?: string) => Promise<string>;
}

/** Uncounted preparation, and the counted action. */
type Scene = (people: People) => Promise<() => Promise<unknown>>;

const AT_ONCE = "ten messages in one window, at most";
const AT_ONCE_TRIES = 5;
/** So long a scene takes at most on a machine that is not slow. */
const AT_ONCE_MS = 1000;
/** How often an action sets an alarm before it counts as the action's own. */
const ALARM_TRIES = 3;

const good = async (answer: Promise<object>): Promise<void> => expect(await answer).toHaveProperty("ok", true);
const onMessage =
  (event: string, more: object = {}, who: "ada" | "mia" = "ada"): Scene =>
  async ({ post, ...people }) => {
    const { ada } = people;
    // The first change of a segment lays out its table.
    await good(ada.ask("react", { id: await post(), emoji: "🧊", on: true }));
    const id = await post();
    return () => good(people[who].ask(event, { id, ...more }));
  };

const SCENES: Readonly<Record<string, Scene>> = {
  "a message": async ({ post }) => post,
  [AT_ONCE]:
    async ({ post }) =>
    () =>
      Promise.all(Array.from({ length: 10 }, (_, i) => post(`${i}`))),
  "a message that was sent before, or is refused": async ({ ada }) => {
    const known = { content: "again", clientMsgId: "known" };
    await good(ada.ask("chat-message", known));
    return async () => {
      await good(ada.ask("chat-message", known));
      expect(await ada.ask("chat-message", { content: "" })).toHaveProperty("error");
    };
  },
  "the first edit or reaction of a segment": async ({ ada, post }) => {
    const id = await post();
    return () => good(ada.ask("react", { id, emoji: "👍", on: true }));
  },
  "an edit": onMessage("edit-message", { content: "better" }),
  "a further edit of the same message": async ({ ada, post }) => {
    const id = await post();
    await good(ada.ask("edit-message", { id, content: "better" }));
    return () => good(ada.ask("edit-message", { id, content: "better still" }));
  },
  "a reaction": onMessage("react", { emoji: "👍", on: true }),
  "a deletion": onMessage("delete-message"),
  "an edit by a moderator": onMessage("edit-message", { content: "better" }, "mia"),
  "a deletion by a moderator": onMessage("delete-message", {}, "mia"),
  typing:
    async ({ ada }) =>
    async () => {
      for (const on of [true, false]) await good(ada.ask("typing", { on }));
    },
  "history, search of new messages, presence":
    async ({ ada }) =>
    async () => {
      await good(ada.ask("history", {}));
      await good(ada.ask("search", { query: "first" }));
      await good(ada.ask("presence", {}));
    },
  "a user comes":
    async ({ room }) =>
    () =>
      join(room, "newcomer"),
  "an announcement":
    async ({ room, ada }) =>
    async () => {
      const said: AnnouncedHere = {
        v: ANNOUNCE_VERSION,
        id: "a1",
        data: 1,
        at: 1,
        by: { user: "backend", name: "backend" },
      };
      expect(await stubOf(room).takeAnnounced([said])).toMatchObject([{ ok: true, isHeard: true }]);
      await ada.receives("announcement");
    },
  "a ban, a mute, slow mode, a grant, a topic":
    async ({ mia }) =>
    () =>
      good(mia.ask("ban", { user: "zoe" })),
  "the audit list":
    async ({ mia }) =>
    () =>
      good(mia.ask("audit", {})),
};

/** A room that has been used, and has nothing more to do. */
async function usedRoom(): Promise<People> {
  const room = freshRoom();
  const ada = await join(room, "ada");
  const mia = await joinModerator(room);
  const post = async (content = "first"): Promise<string> =>
    (await ada.ask<{ id: string }>("chat-message", { content })).id;
  await post();
  return { room, ada, mia, post };
}

it("every line of the price list has a scene", () => {
  expect(LINES.map(({ what }) => what)).toEqual(Object.keys(SCENES));
});

/**
 * @param prepare makes a room
 * @returns what it writes for an action; counts again if a slow machine had an alarm meanwhile, or set one in a pause that it made
 */
async function countBetweenAlarms(
  prepare: () => Promise<{ readonly room: string; readonly act: () => Promise<unknown> }>,
): Promise<Counted> {
  for (let withAlarm = 0; ;) {
    const { room, act } = await prepare();
    await isAtRest(room);
    const dueMs = (await alarmOf(room)) ?? 0;
    const startMs = performance.now();
    const counted = await rowsWritten(room, () => act());
    if (Date.now() >= dueMs) continue;
    if (counted.alarms === 0) return counted;
    // A pause may also end in the first moments of the action: what the action itself sets, it sets each time.
    if (performance.now() - startMs < AT_ONCE_MS && ++withAlarm === ALARM_TRIES) return counted;
  }
}

const countIn = (makePeople: () => Promise<People>, what: string): Promise<Counted> =>
  countBetweenAlarms(async () => {
    const people = await makePeople();
    return { room: people.room, act: await SCENES[what]!(people) };
  });

it.concurrent.each(LINES.filter(({ what }) => what !== AT_ONCE))(
  "$what: $rows rows, $alarms alarms",
  async ({ what, rows, alarms }) => {
    expect(await countIn(usedRoom, what)).toEqual({ rows, alarms });
  },
);

it(AT_ONCE, async () => {
  const { rows, alarms } = LINES.find(({ what }) => what === AT_ONCE)!;
  let counted = await countIn(() => withSettings(LONG_WINDOW, usedRoom), AT_ONCE);
  // Again, if a slow machine needed more than the window to send them.
  for (let tries = 1; tries < AT_ONCE_TRIES && counted.rows > rows; tries++)
    counted = await countIn(() => withSettings(LONG_WINDOW, usedRoom), AT_ONCE);
  expect(counted.rows).toBeLessThanOrEqual(rows);
  expect(counted.alarms).toBe(alarms);
});

// So the model behind `npm run cost` has them.
it(`the first visit of a room stores its version and its log's name: ${FIRST_VISIT_ROWS} rows`, async () => {
  const room = freshRoom();
  const { rows, alarms } = await rowsWritten(room, () => join(room, "ada"), freshRoom());
  expect(rows - alarms).toBe(FIRST_VISIT_ROWS);
});

it(`the first message of a room creates its log: ${FIRST_MESSAGE_ROWS} rows besides its own`, async () => {
  const { rows, alarms } = await countBetweenAlarms(async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    return { room, act: () => good(ada.ask("chat-message", { content: "first" })) };
  });
  expect([rows - alarms, alarms]).toEqual([FIRST_MESSAGE_ROWS + 1, 0]);
});
