// Hostile payloads of events: every event of a room with shapes that no event takes, with a prototype to set, and with single
// wrong fields. The room answers all of them and carries out none. Called by attacks.test.ts and room.test.ts.
import type { EventsOf, RoomHandle } from "../../src/extension/extension.ts";
import { Pins } from "../../src/features/pins/pins.ts";
import { Reports } from "../../src/features/reports/reports.ts";
import { CHAT_EVENTS } from "../../src/protocol/chat-events.ts";

export interface HostileEvent {
  readonly name: string;
  readonly event: string;
  /** JSON, as it travels. */
  readonly payload: string;
  /** The error code of the answer; absent where the room may answer with any. */
  readonly code?: string;
}

/** The features that the attacked room adds to the chat. */
export const attackedFeatures = (room: RoomHandle) => [new Pins(room), new Reports(room)];

/** Of these features: members report messages and list pins, all else is a moderator's. */
const OF_FEATURES: Readonly<Record<keyof EventsOf<ReturnType<typeof attackedFeatures>[number]>["sent"], string>> = {
  "report-message": '{"id":"another-1","reason":"mallory was here"}',
  pins: "{}",
  pin: '{"id":"another-1"}',
  unpin: '{"id":"another-1"}',
  reports: "{}",
  "resolve-report": '{"id":"another-1","action":"dismiss"}',
};
const { "report-message": _reported, pins: _pins, ...OF_FEATURES_FOR_MODERATORS } = OF_FEATURES;

const DEPTH = 10_000;

/** Shapes that no event takes. */
const SHAPES: Readonly<Record<string, string>> = {
  "a number": "7",
  text: '"ada"',
  true: "true",
  "an empty list": "[]",
  "a list of what would be right": '[{"content":"mallory was here","id":"x","user":"ada","seq":1,"on":true}]',
  "10,000 levels": "[".repeat(DEPTH) + "]".repeat(DEPTH),
};

const ALL = [...CHAT_EVENTS.map(({ name }) => name), ...Object.keys(OF_FEATURES)];

const OF_EACH: HostileEvent[] = ALL.flatMap((event) =>
  Object.entries(SHAPES).map(([shape, payload]) => ({
    name: `${event} with ${shape}`,
    event,
    payload,
    code: "INVALID_PAYLOAD",
  })),
);

const PROTOTYPES: HostileEvent[] = ALL.map((event) => ({
  name: `${event} with a prototype to set`,
  event,
  payload: '{"__proto__":{"polluted":"yes","user":"ada"},"constructor":{"prototype":{"polluted":"yes"}}}',
}));

const field = (event: string, code: string, cases: Readonly<Record<string, string>>): HostileEvent[] =>
  Object.entries(cases).map(([name, payload]) => ({ name: `${event}: ${name}`, event, payload, code }));

const FILE = '{"key":"k","name":"n","type":"image/png","size":1}';

const FIELDS: HostileEvent[] = [
  ...field("chat-message", "INVALID_PAYLOAD", {
    "content that is null": '{"content":null}',
    "content that is a list": '{"content":["mallory was here"]}',
    "content that is an object": '{"content":{"toString":"mallory was here"}}',
    "content of blanks": '{"content":" \\n\\t\\u00a0 "}',
    "a clientMsgId that is a number": '{"content":"x","clientMsgId":1}',
    "an empty clientMsgId": '{"content":"x","clientMsgId":""}',
    "a clientMsgId of 65 characters": `{"content":"x","clientMsgId":"${"i".repeat(65)}"}`,
    "a replyTo that is an object": '{"content":"x","replyTo":{"$ne":null}}',
    "a replyTo of 1,000 characters": `{"content":"x","replyTo":"${"r".repeat(1000)}"}`,
    "an attachment that is text": '{"content":"x","attachment":"https://evil.example/x.png"}',
    "an attachment with an address": '{"content":"x","attachment":{"url":"https://evil.example/x.png"}}',
    "an attachment that is a list": '{"content":"x","attachment":[]}',
    "attachments that are none": '{"content":"x","attachments":{"length":1,"0":"x"}}',
    "attachments with a preview that is text": `{"content":"x","attachments":[${FILE.replace("}", ',"preview":"https://evil.example"}')}]}`,
    "a hundred attachments": `{"content":"x","attachments":[${Array.from({ length: 100 }, () => FILE).join(",")}]}`,
  }),
  ...field("chat-message", "TOO_LONG", {
    "content of 1,001 characters": `{"content":"${"x".repeat(1001)}"}`,
    "content of 60,000 characters": `{"content":"${"x".repeat(60_000)}"}`,
  }),
  ...field("chat-message", "NOT_FOUND", {
    "a reply to nothing": '{"content":"x","replyTo":"nothing-1"}',
    "a reply to __proto__": '{"content":"x","replyTo":"__proto__"}',
    "a reply to a place below zero": '{"content":"x","replyTo":"e-1"}',
    "a reply in SQL": '{"content":"x","replyTo":"1\' OR 1=1 --"}',
  }),
  ...field("history", "INVALID_PAYLOAD", {
    "a limit of zero": '{"limit":0}',
    "a limit below zero": '{"limit":-1}',
    "a limit with a fraction": '{"limit":1.5}',
    "a limit above all": '{"limit":1e308}',
    "a limit that overflows": '{"limit":1e999}',
    "a limit of 2^53": '{"limit":9007199254740993}',
    "a limit that is text": '{"limit":"100; DROP TABLE messages"}',
    "a before that is an object": '{"before":{"$gt":0}}',
    "a before below zero": '{"before":-1}',
    "a before that is a list": '{"before":[1]}',
    "both directions": '{"before":1,"after":1}',
    "a time that is text": '{"beforeTime":"yesterday"}',
  }),
  ...field("get-message", "INVALID_PAYLOAD", { "an empty id": '{"id":""}', "an id that is a list": '{"id":["x"]}' }),
  ...field("get-message", "NOT_FOUND", {
    "an id called __proto__": '{"id":"__proto__"}',
    "an id in SQL": '{"id":"\' UNION SELECT * FROM sqlite_master --"}',
    "an id of another log": '{"id":"another-1"}',
    "an id with a path": '{"id":"../../1"}',
  }),
  ...field("edit-message", "NOT_FOUND", { "no such message": '{"id":"another-1","content":"mallory was here"}' }),
  ...field("delete-message", "NOT_FOUND", { "no such message": '{"id":"another-1"}' }),
  ...field("react", "INVALID_PAYLOAD", {
    "an emoji of 1,000 characters": `{"id":"x-1","emoji":"${"e".repeat(1000)}","on":true}`,
    "an emoji that is a list": '{"id":"x-1","emoji":["👍"],"on":true}',
    "on that is text": '{"id":"x-1","emoji":"👍","on":"yes"}',
  }),
  ...field("changes", "INVALID_PAYLOAD", {
    "after below zero": '{"after":-1}',
    "after with a fraction": '{"after":0.1}',
    "after above all": '{"after":1e300}',
  }),
  ...field("search", "INVALID_PAYLOAD", {
    "a query of 60,000 characters": `{"query":"${"q".repeat(60_000)}"}`,
    "a query that is an object": '{"query":{"$regex":".*"}}',
    "a limit of a million": '{"query":"x","limit":1000000}',
  }),
  ...field("threads", "INVALID_PAYLOAD", {
    "a limit of a million": '{"limit":1000000}',
    "a before below zero": '{"before":-1}',
    "a from that is an object": '{"from":{"$gt":0}}',
  }),
  ...field("thread", "INVALID_PAYLOAD", { "an id that is a list": '{"id":["x"]}', "no id": "{}" }),
  ...field("thread", "NOT_FOUND", {
    "an id called __proto__": '{"id":"__proto__"}',
    "an id of another log": '{"id":"another-1"}',
  }),
  ...field("read-thread", "INVALID_PAYLOAD", {
    "a seq above all": '{"id":"x-1","seq":1e300}',
    "a seq that is not there yet": '{"id":"x-1","seq":9007199254740991}',
  }),
  ...field("follow-thread", "INVALID_PAYLOAD", { "on that is text": '{"id":"x-1","on":"yes"}' }),
  ...field("follow-thread", "NOT_FOUND", { "an id of another log": '{"id":"another-1","on":true}' }),
  ...field("attend", "INVALID_PAYLOAD", { "to nobody": '{"to":"nobody"}', nothing: "{}" }),
  ...field("typing", "INVALID_PAYLOAD", { "on that is a number": '{"on":1}', nothing: "{}" }),
  ...field("read", "INVALID_PAYLOAD", {
    "a seq below zero": '{"seq":-1}',
    "a seq with a fraction": '{"seq":1.5}',
    "a seq above all": '{"seq":1e300}',
    "a seq that is text": '{"seq":"1"}',
  }),
  ...field("open-dm", "INVALID_PAYLOAD", {
    "with nobody": '{"user":""}',
    "with a name of 1,000 characters": `{"user":"${"u".repeat(1000)}"}`,
  }),
  ...field("report-message", "INVALID_PAYLOAD", {
    "no reason": '{"id":"x-1"}',
    "a reason that is an object": '{"id":"x-1","reason":{"length":5}}',
    "a reason of 301 characters": `{"id":"x-1","reason":"${"r".repeat(301)}"}`,
    "a length of its own": '{"id":{"length":{"toString":1}},"reason":"x"}',
  }),
  ...field("report-message", "NOT_FOUND", {
    "an id called __proto__": '{"id":"__proto__","reason":"x"}',
    "an id of another log": '{"id":"another-1","reason":"x"}',
  }),
  ...field("resolve-report", "INVALID_PAYLOAD", {
    "an unknown action": '{"id":"x-1","action":"constructor"}',
    "a mute without an end": '{"id":"x-1","action":"mute","user":"ada"}',
  }),
  ...field("reports", "INVALID_PAYLOAD", { "a limit of a million": '{"limit":1000000}' }),
  ...field("refresh-token", "UNAUTHORIZED", {
    "a token that is none": '{"token":"x"}',
    "a token of 60,000 characters": `{"token":"${"t".repeat(60_000)}"}`,
    "a token with NUL": '{"token":"a\\u0000.b.c"}',
  }),
  ...field("refresh-token", "INVALID_PAYLOAD", {
    "an empty token": '{"token":""}',
    "a token that is an object": '{"token":{"length":1}}',
  }),
];

const OF_MODERATORS = CHAT_EVENTS.filter(({ by }) => by === "moderators").map(
  ({ name, examples: [example] }) => [name, JSON.stringify(example)] as const,
);

const FORBIDDEN: HostileEvent[] = [...OF_MODERATORS, ...Object.entries(OF_FEATURES_FOR_MODERATORS)].map(
  ([event, payload]) => ({
    name: `${event} by a member`,
    event,
    payload,
    code: "FORBIDDEN",
  }),
);

export const HOSTILE_EVENTS: readonly HostileEvent[] = [...OF_EACH, ...PROTOTYPES, ...FIELDS, ...FORBIDDEN];
