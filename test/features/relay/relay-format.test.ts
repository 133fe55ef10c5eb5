// The stored form of mirrored messages and their changes. Its relay fields are visible nowhere else.
import { expect, it } from "vitest";

import { decodeBatch, encodeBatch } from "../../../src/chat/log/batch-format.ts";
import { decodeChange, encodeChange } from "../../../src/chat/log/change-format.ts";
import { emptied, UNCHANGED } from "../../../src/chat/log/change.ts";
import { makeOrigin, routeOf } from "../../../src/chat/log/origin.ts";
import { posted } from "../../../src/features/webhooks/webhook-batch.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";

const ROUTES = [
  { epoch: "e7", hops: 1 },
  { epoch: "e7", hops: 3, via: "between" },
];
const PLACE = { room: "b", epoch: "e1", firstSeq: 1, lastSeq: 1 };

const mirrored = (route: (typeof ROUTES)[number]): Message => ({
  id: "e1-1",
  seq: 1,
  room: "b",
  sender: "ada",
  name: "Ada",
  content: "hello",
  timestamp: 5,
  origin: makeOrigin("a", 41, route),
});

it.each(ROUTES)("RLY-1: a mirrored message is read as it was written, and with it how it came: %j", (route) => {
  const [message] = decodeBatch(encodeBatch([mirrored(route)]), PLACE);
  expect(message).toEqual(mirrored(route));
  expect(routeOf(message!.origin!)).toEqual(route);
  // After its deletion the link writes it again.
  const [deleted] = decodeBatch(encodeBatch([emptied(message!)]), PLACE);
  expect(routeOf(deleted!.origin!)).toEqual(route);
});

it("RLY-1: clients and webhooks see the room and the place of its origin", () => {
  const { data } = JSON.parse(JSON.stringify(posted(mirrored(ROUTES[1]!)))) as { data: { message: Message } };
  expect(data.message.origin).toEqual({ room: "a", seq: 41 });
});

it("RLY-6: the change of a copy keeps the rev of the change that it follows", () => {
  const edits = [{ content: "better", timestamp: 9, by: "ada" }];
  for (const change of [
    { ...UNCHANGED, edits, rootRev: 7 },
    { ...UNCHANGED, deletedBy: "mo", rootRev: 8 },
    { ...UNCHANGED, edits },
  ])
    expect(decodeChange(encodeChange(change), 1)).toEqual(change);
});
