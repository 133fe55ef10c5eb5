// Webhooks from end to end in workerd: a room, a real queue, the Worker's consumer; costs.
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import type { WebhookDelivery, WebhookEvent } from "../../src/protocol/webhook-events.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, LONG_WINDOW, Sleeper, stubOf, useSettings, withSettings } from "./rooms.ts";
import { rowsWritten, type Counted } from "./rows-written.ts";

useSettings({ WEBHOOK_URL: "https://hooks.example.com/", WEBHOOK_SECRET: "only-we-two-know" });

/** The queue has it before the room can note that. */
const NOTED_MS = 300;

const received: WebhookEvent[] = [];
beforeAll(() => {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_url, init) => {
    received.push(...(JSON.parse(init!.body as string) as WebhookDelivery).events);
    return new Response(null);
  });
});
afterAll(() => vi.restoreAllMocks());

const typesOf = (room: string): string[] => received.filter((event) => event.room === room).map(({ type }) => type);

const isTold = (room: string, type: WebhookEvent["type"], count = 1): Promise<void> =>
  vi.waitFor(() =>
    expect(typesOf(room).filter((other) => other === type).length, `${type} in ${typesOf(room).join(", ")}`).toBe(
      count,
    ),
  );

/** The rows that a room writes during `work`, until the receiver has its events and the room has noted that. */
function cost(room: string, type: WebhookEvent["type"], count: number, work: () => Promise<unknown>, rowsMin = 0) {
  const before = typesOf(room).filter((other) => other === type).length;
  return rowsWritten(room, async (soFar) => {
    await work();
    await isTold(room, type, before + count);
    await vi.waitFor(() => expect(soFar().rows - soFar().alarms).toBeGreaterThanOrEqual(rowsMin));
    await new Promise((resolve) => setTimeout(resolve, NOTED_MS));
  });
}

it("HOOK-1, HOOK-4: events of a room reach the receiver, through sleep", async () => {
  const room = freshRoom();
  const sleeper = new Sleeper(room);
  const ada = await join(room, "ada");
  await isTold(room, "member.joined");
  await sleeper.sleep();
  const { id } = await ada.ask<{ id: string }>("chat-message", { content: "helo" });
  await ada.ask("edit-message", { id, content: "hello" });
  await isTold(room, "message.edited");
  await sleeper.sleep();
  await ada.ask("delete-message", { id });
  await isTold(room, "message.deleted");
  ada.close();
  await isTold(room, "room.vacated");
  expect(typesOf(room)).toEqual([
    "room.occupied",
    "member.joined",
    "message.posted",
    "message.edited",
    "message.deleted",
    "member.left",
    "room.vacated",
  ]);
});

it("HOOK-6: rows of messages and changes", async () => {
  const room = freshRoom();
  const ada = await withSettings(LONG_WINDOW, () => join(room, "ada"));
  const ids: string[] = [];
  const post = async (content: string): Promise<void> => {
    ids.push((await ada.ask<{ id: string }>("chat-message", { content })).id);
  };
  await cost(room, "message.posted", 1, () => post("the first begins a segment"));
  await cost(room, "message.edited", 1, () => ada.ask("edit-message", { id: ids[0], content: "so does its change" }));
  // Besides the message itself, which is a row: the first of each pair.
  expect(await cost(room, "message.posted", 1, () => post("second"), 1 + 1)).toEqual({ rows: 1 + 1, alarms: 0 });
  const burst = await cost(
    room,
    "message.posted",
    10,
    () => Promise.all(Array.from({ length: 10 }, (_, i) => post(`${i}`))),
    1 + 1,
  );
  // A busy machine commits them in more than two batches.
  expect(burst.rows).toBeLessThan(10);
  const change = { id: ids[1], content: "2nd" };
  const edited = await cost(room, "message.edited", 1, () => ada.ask("edit-message", change), 1 + 2);
  expect(edited).toEqual({ rows: 1 + 2, alarms: 0 });
  expect(await cost(room, "member.joined", 1, () => join(room, "ben"), 1)).toEqual({ rows: 1, alarms: 0 });
});

it("HOOK-6: rows of members, to the last one who goes", async () => {
  const room = freshRoom();
  // Made before, so that its making does not count.
  (await join(room, "somebody")).close();
  await isTold(room, "room.vacated");
  const people: RawClient[] = [];
  const filled = await cost(room, "member.joined", 2, async () => {
    for (const user of ["ada", "ben"]) people.push(await join(room, user));
  });
  const left = await cost(room, "member.left", 1, async () => people[1]!.close(), 3);
  const vacated = await cost(room, "room.vacated", 1, async () => people[0]!.close(), 5);
  const rowsOf = ({ rows, alarms }: Counted): number => rows - alarms;
  // The room and its first member three, who comes a moment later one more.
  expect(rowsOf(filled)).toBeOneOf([3, 4]);
  // Without a webhook one each: the room notes who has been there and read nothing.
  expect([left, vacated].map(rowsOf)).toEqual([2 + 1, 4 + 1]);
  // The grace, and the heartbeat that it puts off: as without a webhook.
  expect(left.alarms).toBeLessThanOrEqual(2);
  expect(vacated.alarms).toBeLessThanOrEqual(2);
});

it("HOOK-5: a deleted room sends its remaining events, and starts fresh after it", async () => {
  const room = freshRoom();
  await join(room, "ada");
  await isTold(room, "member.joined");
  await stubOf(room).deleteRoom();
  await isTold(room, "room.vacated");
  const ben = await join(room, "ben");
  await ben.ask("chat-message", { content: "anybody here?" });
  await isTold(room, "message.posted");
  expect(typesOf(room)).toEqual([
    "room.occupied",
    "member.joined",
    "member.left",
    "room.vacated",
    "room.occupied",
    "member.joined",
    "message.posted",
  ]);
});
