// A room and a client of a later release: fields that the room does not know are ignored, and events that it does not know are refused, by
// an answer (docs/releases.md).
import { expect, it } from "vitest";

import { EPOCH } from "../host/memory-log.ts";
import { cast, OK, refusalOf } from "../host/moderated-room.ts";

const LATER = { later: { field: [1] } };

it.each<[event: string, payload: object]>([
  ["chat-message", { content: "hello" }],
  ["edit-message", { id: `${EPOCH}-1`, content: "hello, all" }],
  ["react", { id: `${EPOCH}-1`, emoji: "👍", on: true }],
  ["history", { limit: 1 }],
  ["search", { query: "hello" }],
  ["presence", {}],
  ["typing", { on: true }],
  ["read", { seq: 1 }],
  ["ban", { user: "zoe" }],
  ["delete-message", { id: `${EPOCH}-1` }],
])("%s with a field more is carried out, and no member hears of the field", async (event, payload) => {
  const { mia, ben } = await cast();
  await mia.ask("chat-message", { content: "first" });
  expect(await mia.ask(event, { ...payload, ...LATER })).toMatchObject(OK);
  expect(JSON.stringify(await mia.ask("history", {}))).not.toContain("later");
  for (const heard of ["chat-message", "message-edited", "reaction", "typing", "moderation"])
    expect(JSON.stringify(ben.received(heard))).not.toContain("later");
});

it("an event of a later release is answered with UNKNOWN_EVENT", async () => {
  const { mia } = await cast();
  expect(await mia.ask("open-poll", { options: ["yes", "no"] })).toEqual(refusalOf("UNKNOWN_EVENT"));
});
