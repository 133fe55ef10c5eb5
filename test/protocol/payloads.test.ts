// The payloads that events take: the type of each field, and its limits with one beyond. A room answers all others INVALID_PAYLOAD, and nobody
// else hears of them (test/attacks/room.test.ts); what it judges itself stands in the tests of the event.
import { describe, expect, it } from "vitest";
import type * as z from "zod/mini";

import { CHAT_EVENTS, type ClientToServerEvents } from "../../src/protocol/chat-events.ts";
import { readAs } from "../../src/protocol/input.ts";
import { describeIssues } from "../../src/protocol/schemas/fields.ts";
import { SANCTION_SECONDS_MAX } from "../../src/protocol/limits.ts";

type EventName = keyof ClientToServerEvents;
type Kind = "text" | "number" | "yes or no" | "object" | "list";

/** Fields that are no texts. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...Object.fromEntries(
    [
      "limit",
      "before",
      "after",
      "around",
      "beforeTime",
      "afterTime",
      "seq",
      "seconds",
      "threads.from",
      "threads.to",
    ].map((field) => [field, "number"]),
  ),
  "moderation-state.after": "text",
  on: "yes or no",
  back: "yes or no",
  attachment: "object",
  attachments: "list",
};

/** Values of each kind. Every number is a count of something. */
const OF_KIND: Readonly<Record<Kind, readonly unknown[]>> = {
  text: ["x"],
  number: [7],
  "yes or no": [true],
  object: [{}, { length: { toString: 1 } }],
  list: [["x"]],
};
const NO_COUNTS = [-1, 1.5, 2 ** 53];

const declared = (name: EventName) => CHAT_EVENTS.find((event) => event.name === name)!;

/** The text that refuses the payload; nothing where the event takes it. */
function refusal(name: EventName, payload: object): string | undefined {
  const read = readAs<z.ZodMiniType>(declared(name).schema, payload);
  return read.success ? undefined : describeIssues(read.error);
}

describe("INVALID_PAYLOAD names the field", () => {
  const fields = CHAT_EVENTS.flatMap(({ name, schema }) =>
    Object.keys(schema.shape).map((field): [EventName, string] => [name, field]),
  );

  it.each(fields)("of another type: %s, %s", (name, field) => {
    const [example] = declared(name).examples;
    const kind = KINDS[`${name}.${field}`] ?? KINDS[field] ?? "text";
    const others = Object.entries(OF_KIND).flatMap(([other, values]) => (other === kind ? [] : values));
    for (const value of [null, ...others, ...(kind === "number" ? NO_COUNTS : [])])
      expect(refusal(name, { ...example, [field]: value }), JSON.stringify(value)).toMatch(new RegExp(`^${field}\\b`));
  });

  it.each(CHAT_EVENTS.filter(({ examples: [example] }) => Object.keys(example!).length > 0))(
    "that is missing: $name",
    ({ name, schema, examples: [example] }) => {
      const missing = describeIssues(readAs<z.ZodMiniType>(schema, {}).error ?? ({ issues: [] } as never));
      const needed = Object.keys(example!).filter((field) => refusal(name, { ...example, [field]: undefined }));
      expect(new Set(missing.split("; ").flatMap((text) => text.split(":", 1)[0] || []))).toEqual(new Set(needed));
    },
  );

  const long = (length: number): string => "x".repeat(length);
  const USERS = [
    ["u", long(128)],
    ["", long(129)],
  ] as const;

  it.each<[EventName, field: string, taken: readonly unknown[], refused: readonly unknown[]]>([
    ["chat-message", "clientMsgId", [long(64)], ["", long(65)]],
    ["chat-message", "replyTo", [long(128)], ["", long(129)]],
    ["chat-message", "attachment", [], [{}, { key: "k" }]],
    ["chat-message", "attachments", [], [[]]],
    ["edit-message", "id", [long(128)], ["", long(129)]],
    ["history", "limit", [1, 200], [0, 201]],
    ["history", "around", [0, 2 ** 53 - 1], []],
    ["changes", "limit", [1, 200], [0, 201]],
    ["react", "emoji", ["❤", "👩‍👩‍👧‍👦", "+1", long(32)], ["", "two words", "спам", "👍👍", "🇫", "\0", "\ud83d", long(33)]],
    ["react", "emoji", [":party_parrot:"], ["https://example.com/"]],
    ["presence", "find", [long(64)], ["", " ", long(65)]],
    ["attend", "to", ["all", "counts"], ["nobody"]],
    ["read", "back", [true], [false]],
    ["refresh-token", "token", ["x"], [""]],
    ["kick", "user", ...USERS],
    ["kick", "reason", [long(300)], ["", " ", "\u200B\u2060\u2800", long(301)]],
    ["ban", "seconds", [1, SANCTION_SECONDS_MAX], [0, SANCTION_SECONDS_MAX + 1]],
    ["mute", "seconds", [1, SANCTION_SECONDS_MAX], [0, SANCTION_SECONDS_MAX + 1]],
    ["slow-mode", "seconds", [0, 21_600], [21_601]],
    ["describe", "name", ["", long(64)], [long(65)]],
    ["describe", "topic", ["", long(250)], [long(251)]],
    ["grant", "role", ["member", "moderator", "reader"], ["service", "admin"]],
    ["audit", "before", [1], [0]],
    ["audit", "limit", [1, 200], [0, 201]],
    ["moderation-state", "limit", [1, 200], [0, 201]],
    ["moderation-state", "after", ...USERS],
    ["thread", "limit", [1, 100], [0, 101]],
    ["threads", "limit", [1, 50], [0, 51]],
    ["search", "limit", [1, 50], [0, 51]],
    ["search", "query", [long(256)], [long(257)]],
    ["search", "from", ...USERS],
    ["search", "mentions", ...USERS],
    ["open-dm", "user", ...USERS],
  ])("beyond its limits: %s, %s", (name, field, taken, refused) => {
    const [example] = declared(name).examples;
    for (const value of taken) expect(refusal(name, { ...example, [field]: value })).toBeUndefined();
    for (const value of refused)
      expect(refusal(name, { ...example, [field]: value }), JSON.stringify(value)).toMatch(new RegExp(`^${field}\\b`));
  });

  it.each([
    { before: 1, after: 1 },
    { around: 1, after: 1 },
    { beforeTime: 1, afterTime: 1 },
  ])("MSG-9: or says that history takes one bound: %j", (bounds) => {
    expect(refusal("history", bounds)).toMatch(/^give one of /);
  });
});
